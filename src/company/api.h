#pragma once

// GET /v1/company and /v1/company/payment-methods (specification, Company; contract section 10).

#include <span>

#include "http/route.h"

namespace comanda::company {

std::span<const http::Route> Routes();

}  // namespace comanda::company
