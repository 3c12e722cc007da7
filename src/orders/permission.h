#pragma once

// Which actors may edit or cancel which orders (specification, States and transitions; contract
// section 7, Status and cancel). Changes of the status, the rider and the delivery status are not
// restricted by actor. Pure.

#include <string_view>

namespace comanda::orders {

// `actor`: "key:<id>" (an API key), "local" (the command line), "app:<provider>" (a delivery app)
// or "cloud". `source`: Order::source, the channel through which the order came.
//
// API keys and the command line may edit orders of source API; an app those of its own source (its
// provider's name in capitals); the cloud those of every source except API.
bool MayEdit(std::string_view actor, std::string_view source);

}  // namespace comanda::orders
