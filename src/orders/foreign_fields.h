#pragma once

// Fields that a body under /v1/orders must not have (contract section 1, Unknown body field;
// sections 7 and 18). They are refused on the live address too, because dropping them would lose
// what the client meant: an order's items, a payment in another currency, a till's discount.

#include <optional>

#include "base/money.h"
#include "json/reader.h"

namespace comanda::orders {

// In the body of POST or PATCH of an order: lists, status and rider have endpoints of their own,
// the rest comes from the credential.
void RefuseOfOtherEndpoints(json::ObjectReader& order);
// In PATCH of an order, besides: what is set when the order is placed.
void RefuseOfPlacing(json::ObjectReader& order);
// In the body that adds rows to an order: other lists and the credential's fields, unless null, 0
// or empty. `own` is the list that the body may have, or "".
void RefuseBesideRows(json::ObjectReader& body, std::string_view own);

// Names of other systems for money and amounts. `own` is what the line costs, to compare `total`
// and `amount` with; nothing where the line is wrong, and those two are then not looked at.
void RefuseMoneyOfItem(json::ObjectReader& item, std::optional<Minor> own, int decimals);
void RefuseMoneyOfModifier(json::ObjectReader& modifier, std::optional<Minor> own, int decimals);
// `own`: the amount; `with_tip`: with its tip.
void RefuseMoneyOfPayment(json::ObjectReader& payment, std::optional<Minor> own,
                          std::optional<Minor> with_tip, int decimals);

}  // namespace comanda::orders
