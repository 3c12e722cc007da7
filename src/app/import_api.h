#pragma once

// POST /control/import: the request of `comanda import`. Accepted only over the control socket.

#include <span>

#include "http/route.h"

namespace comanda::app {

std::span<const http::Route> ImportRoutes();

}  // namespace comanda::app
