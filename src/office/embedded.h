#pragma once

// Files of src/office that are compiled into comanda-head. scripts/embed.cmake generates the source
// of these functions at build time.

#include <string_view>

namespace comanda::office {

std::string_view CompanySql();
std::string_view OrdersSql();
std::string_view ItemsSql();
std::string_view ModifiersSql();
std::string_view PaymentsSql();
std::string_view DiscountsSql();
std::string_view ProductsSql();
std::string_view DailySalesSql();

}  // namespace comanda::office
