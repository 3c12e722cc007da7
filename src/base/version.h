#pragma once

// The version of the program. It is part of the ETag of every list, because another version may
// render the same rows differently.

#include <string_view>

namespace comanda {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace comanda
