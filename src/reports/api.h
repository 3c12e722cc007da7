#pragma once

// The handlers of GET /v1/orders/by-payment-methods, /by-tips and /products-sold (specification,
// Orders, reading; contract section 11).

#include <span>

#include "http/route.h"

namespace comanda::reports {

std::span<const http::Route> Routes();

}  // namespace comanda::reports
