#pragma once

#include <string_view>

namespace comanda::app {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace comanda::app
