#pragma once

// Files of src/delivery that are compiled into the program. scripts/embed.cmake generates the
// source of these functions at build time.

#include <string_view>

namespace comanda::delivery {

std::string_view DeliveryHeroJson();
std::string_view DidiJson();
std::string_view IfoodJson();
std::string_view KeetaJson();
std::string_view RappiJson();
std::string_view UberEatsJson();
std::string_view NotSupportedJson();
std::string_view SchemaJson();

}  // namespace comanda::delivery
