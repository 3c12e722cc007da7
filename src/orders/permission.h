#pragma once

// Who may edit or cancel which orders (specification, States and transitions; contract section 7,
// Status and cancel). Moving an order along its life, riders and delivery statuses are allowed to
// everybody. Pure.

#include <string_view>

namespace comanda::orders {

// `actor` is "key:<id>" or "local" (this box's API and command line), "app:<provider>" (a delivery
// app) or "cloud"; `source` is the order's channel.
//
// Keys and the command line edit orders of source API, an app those of its own channel (its
// provider's name in capitals), the cloud those of every channel but this API.
bool MayEdit(std::string_view actor, std::string_view source);

}  // namespace comanda::orders
