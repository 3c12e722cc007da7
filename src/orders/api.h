#pragma once

// The endpoints of orders (specification, Orders reading to logistics).

#include <span>

#include "http/route.h"

namespace comanda::orders {

std::span<const http::Route> Routes();

}  // namespace comanda::orders
