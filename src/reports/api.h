#pragma once

// GET /v1/orders/by-payment-methods, /by-tips, /products-sold (spec, Orders, reading; contract
// section 11).

#include <span>

#include "http/route.h"

namespace comanda::reports {

std::span<const http::Route> Routes();

}  // namespace comanda::reports
