#include "office/views.h"

#include <string>
#include <string_view>

#include "base/concat.h"
#include "office/embedded.h"

namespace comanda::office {
namespace {

// Currencies whose decimals are not two (base/money.cc).
std::string MinorUnitOf(std::string_view currency) {
  return Concat(
      {"CASE WHEN ", currency,
       " IN ('BHD', 'BIF', 'CLF', 'CLP', 'DJF', 'GNF', 'IQD', 'ISK', 'JOD', 'JPY', 'KMF', 'KRW', "
       "'KWD', 'LYD', 'OMR', 'PYG', 'RWF', 'TND', 'UGX', 'UYW', 'VND', 'VUV', 'XAF', 'XOF', 'XPF') "
       "THEN CASE WHEN ",
       currency, " IN ('CLF', 'UYW') THEN 0.0001 WHEN ", currency,
       " IN ('BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND') THEN 0.001 ELSE 1.0 END "
       "ELSE 0.01 END"});
}

// The text with each minor_unit(x) replaced.
std::string Filled(std::string_view sql) {
  constexpr std::string_view kCall = "minor_unit(";
  std::string filled;
  for (size_t at = sql.find(kCall); at != sql.npos; at = sql.find(kCall)) {
    const size_t end = sql.find(')', at);
    const std::string_view currency = sql.substr(at + kCall.size(), end - at - kCall.size());
    filled += Concat({sql.substr(0, at), "(", MinorUnitOf(currency), ")"});
    sql.remove_prefix(end + 1);
  }
  return filled + std::string(sql);
}

}  // namespace

const db::Published& Views() {
  static const db::Published kViews = {
      .schema = "office",
      .role = "comanda_office",
      .views =
          {
              {"company", Filled(CompanySql())},
              {"orders", Filled(OrdersSql())},
              {"items", Filled(ItemsSql())},
              {"modifiers", Filled(ModifiersSql())},
              {"payments", Filled(PaymentsSql())},
              {"discounts", Filled(DiscountsSql())},
              {"products", Filled(ProductsSql())},
              {"daily_sales", Filled(DailySalesSql())},
          },
      .indexes = {
          "orders_business_day ON orders (company_id, make_date(CAST(substr(business_day, 1, 4) AS "
          "integer), CAST(substr(business_day, 6, 2) AS integer), CAST(substr(business_day, 9, 2) "
          "AS integer)))"}};
  return kViews;
}

}  // namespace comanda::office
