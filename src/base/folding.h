#pragma once

// The table behind Folded() (base/text.h): Latin letters as plain lower-case ASCII.

#include <string_view>

namespace comanda {

// "n" for U+00D1, "ss" for U+00DF; empty if the letter has no ASCII form. ASCII itself is not in
// the table.
std::string_view FoldedLetter(char32_t letter);

}  // namespace comanda
