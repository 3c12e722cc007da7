#pragma once

// The table behind Folded(): letters beyond ASCII as plain lower-case ones.

#include <string_view>

namespace comanda {

// "n" for U+00D1, "ss" for U+00DF; empty where the character has no plain form.
std::string_view FoldedLetter(char32_t letter);

}  // namespace comanda
