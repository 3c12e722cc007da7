#pragma once

// POST /control/import: what `comanda import` calls while the server runs. For the command line
// alone.

#include <span>

#include "http/route.h"

namespace comanda::app {

std::span<const http::Route> ImportRoutes();

}  // namespace comanda::app
