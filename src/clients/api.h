#pragma once

// The handlers of GET /v1/clients and /v1/clients/{id} (contract section 10).

#include <span>

#include "http/route.h"

namespace comanda::clients {

std::span<const http::Route> Routes();

}  // namespace comanda::clients
