#pragma once

// The endpoints under /v1/orders, except the reports (specification, Orders; contract sections 7
// and 8).

#include <span>

#include "http/route.h"

namespace comanda::orders {

std::span<const http::Route> Routes();

}  // namespace comanda::orders
