#pragma once

// All SQL of the room.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "db/session.h"
#include "reports/report.h"

namespace comanda::reports::store {

// What an order adds, packed (orders/sale.h); valid during the call.
struct Sale {
  std::string_view packed;
  std::string_view order_id;
  // False: of an order whose status is left out of the main figures; what was cancelled in it
  // counts.
  bool counts = true;
};
using AddSale = std::function<void(const Sale&)>;
// Those of the orders that the question chooses.
void EachPayments(db::Session& session, const Question& question, const AddSale& add);
void EachLines(db::Session& session, const Question& question, const AddSale& add);

// How a line of the order called what it sold.
struct SoldAs {
  std::string product_name;
  std::optional<std::string> variant_name;
};
std::optional<SoldAs> FindName(db::Session& session, db::CompanyId company,
                               std::string_view order_id, std::string_view product_id,
                               const std::optional<std::string>& variant_id);

}  // namespace comanda::reports::store
