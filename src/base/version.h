#pragma once

// Of the program. Part of every list's tag: another program may render another form.

#include <string_view>

namespace comanda {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace comanda
