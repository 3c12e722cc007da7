#pragma once

// The whole API: every room's table of routes, in the order of the rooms.

#include <span>
#include <vector>

#include "http/route.h"

namespace comanda::app {

std::vector<std::span<const http::Route>> AllRoutes();

}  // namespace comanda::app
