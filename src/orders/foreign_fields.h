#pragma once

// Fields that clients of other systems send and that a body under /v1/orders must not have
// (contract section 1, Unknown body field; sections 7 and 18). Unknown fields are otherwise ignored
// in the live environment; these are refused there too, since ignoring them would lose an order's
// items, a payment's currency or a discount. The functions add errors to the reader. Pure.

#include <optional>

#include "base/money.h"
#include "json/reader.h"

namespace comanda::orders {

// For POST and PATCH of an order. Refuses fields that have an endpoint of their own (lists, also
// under other systems' names, status, rider) or follow from the API key (company, source).
void RefuseOfOtherEndpoints(json::ObjectReader& order);
// For PATCH of an order, in addition. Refuses fields that are set when the order is placed.
void RefuseOfPlacing(json::ObjectReader& order);
// For bodies that add rows to an order. Refuses other lists and the fields that follow from the API
// key, unless they are null, 0 or empty; beside combos also their names in other systems. `own`:
// the list that the body may have, or "".
void RefuseBesideRows(json::ObjectReader& body, std::string_view own);

// Refuse names that other systems use for prices and amounts. `total` and `amount` are accepted if
// they equal `own`, the line total. Nothing: the line has errors, and the two are not checked.
void RefuseMoneyOfItem(json::ObjectReader& item, std::optional<Minor> own, int decimals);
void RefuseMoneyOfModifier(json::ObjectReader& modifier, std::optional<Minor> own, int decimals);
// `own`: the amount of the payment; `with_tip`: the amount and its tip.
void RefuseMoneyOfPayment(json::ObjectReader& payment, std::optional<Minor> own,
                          std::optional<Minor> with_tip, int decimals);

}  // namespace comanda::orders
