#pragma once

// A number with its noun, for sentences: "1 order", "2 orders". Any thread.

#include <cstdint>
#include <string>
#include <string_view>

namespace comanda {

// `one` follows the number 1, `several` all others.
std::string Counted(int64_t number, std::string_view one, std::string_view several);

}  // namespace comanda
