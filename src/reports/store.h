#pragma once

// All SQL of this room. The Each... functions call `add` for every row that a OrderFilter selects;
// the texts of a row are valid during the call only. Functions throw Fault on a database error.
//
// `counts` says whether a row is part of the main figures, `canceled` whether of those on what was
// cancelled.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "db/session.h"
#include "reports/report.h"

namespace comanda::reports::store {

// A payment of an order that was created in the filter's intervals. One that was cancelled does not
// count, nor one of an order whose status is left out of the main figures.
struct Payment {
  std::string_view method_id;
  Minor amount = 0, tip_amount = 0;
  bool canceled = false;
  bool counts = true;
};
void EachPayment(db::Session& session, const OrderFilter& filter,
                 const std::function<void(const Payment&)>& add);
// The payments of orders of any time, also of cancelled ones: `counts` if it was made in the
// intervals, `canceled` if it was cancelled in them.
void EachPaymentByItsTime(db::Session& session, const OrderFilter& filter,
                          const std::function<void(const Payment&)>& add);

// Lines linked to a product of the menu, or free-form lines.
enum class LineKind : uint8_t { kLinked, kFreehand };
// A line of a selected order. Ids are empty if the line has none.
struct Line {
  std::string_view order_id, product_id, variant_id, name;
  // In thousandths.
  int64_t quantity = 0;
  Minor price = 0;
  bool canceled = false;
  bool counts = true;
};
void EachLine(db::Session& session, const OrderFilter& filter, LineKind kind,
              const std::function<void(const Line&)>& add);

// A modifier of a line that is linked to the menu, not cancelled, and counts.
struct Modifier {
  std::string_view product_id, variant_id, name;
  int64_t quantity = 0;  // thousandths
  Minor price = 0;
};
void EachModifier(db::Session& session, const OrderFilter& filter,
                  const std::function<void(const Modifier&)>& add);

// The names that a line of an order carries.
struct SoldAs {
  std::string product_name;
  std::optional<std::string> variant_name;
};
// The names under which that order sold a product or variant; nothing if no such line exists.
std::optional<SoldAs> FindName(db::Session& session, db::CompanyId company,
                               std::string_view order_id, std::string_view product_id,
                               const std::optional<std::string>& variant_id);

}  // namespace comanda::reports::store
