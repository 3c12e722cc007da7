#pragma once

// Which actors may edit or cancel which orders (specification, States and transitions; contract
// section 7, Status and cancel, and section 15.5). Changes of the status, the rider and the
// delivery status are not restricted by actor. Pure.

#include <string_view>

#include "orders/order.h"

namespace comanda::orders {

// `actor`: "key:<id>" (an API key), "local" (the command line), "app:<provider>" (a delivery app)
// or "cloud". `source`: Order::source, the channel through which the order came. `origin`:
// Order::origin, the side that made the order.
//
// The cloud edits the orders that it made, and nobody else edits those. Of the orders that were
// made here, API keys and the command line edit those of source API; an app those of its own source
// (its provider's name in capitals).
bool MayEdit(std::string_view actor, std::string_view source, Origin origin);
// Whoever may edit an order may cancel it; the cloud may cancel every order.
bool MayCancel(std::string_view actor, std::string_view source, Origin origin);

}  // namespace comanda::orders
