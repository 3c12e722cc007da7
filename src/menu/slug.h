#pragma once

#include <string>
#include <string_view>

namespace comanda::menu {

// The form of a name in URLs: "Arroz con mariscos (familiar)" is "arroz-con-mariscos-familiar".
// Never empty: a name without Latin letters and digits gives "-".
std::string Slug(std::string_view name);

}  // namespace comanda::menu
