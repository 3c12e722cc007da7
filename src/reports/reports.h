#pragma once

// Reports: the interface of this room. Each is computed from the orders themselves, never from
// running totals, so that it always agrees with them (contract section 17, invariant 7). Rows are
// sorted by id, free-form lines by name.
//
// Functions read in the caller's snapshot; their time grows with the number of orders selected.
// They throw Fault on a database error.

#include <vector>

#include "db/session.h"
#include "reports/report.h"

namespace comanda::reports {

// Which date decides whether a payment is part of a report.
enum class DatedBy : uint8_t {
  kOrder,  // that of its order
  // Its own: a payment counts when it was made, also if it is cancelled later, and as cancelled
  // when it was cancelled, also those of cancelled orders. What is reported of a day that is over
  // never changes.
  kPayment,
};
std::vector<MethodRow> ByPaymentMethods(db::Session& session, const OrderFilter& filter,
                                        DatedBy dated_by);
std::vector<TipRow> ByTips(db::Session& session, const OrderFilter& filter, DatedBy dated_by);

// Which lines ProductsSold() sums: lines linked to the menu, without or with their modifiers, or
// free-form lines.
enum class Lines : uint8_t { kProducts, kProductsWithModifiers, kFreehand };
std::vector<SoldRow> ProductsSold(db::Session& session, const OrderFilter& filter, Lines lines);

// total_sales / quantity, rounded once, half away from zero, to the minor unit.
Minor AveragePrice(Minor total_sales, int64_t quantity_thousandths);

}  // namespace comanda::reports
