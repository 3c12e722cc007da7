#pragma once

#include <string>
#include <string_view>

namespace comanda::menu {

// A name as it stands in an address: "Arroz con mariscos (familiar)" is
// "arroz-con-mariscos-familiar". Never empty: a name without a Latin letter or digit is "-".
std::string Slug(std::string_view name);

}  // namespace comanda::menu
