#pragma once

// The whole API: every room's table of routes, in the order of the rooms.

#include <span>
#include <vector>

#include "auth/key.h"
#include "http/route.h"

namespace comanda::app {

// The test environment has the sandbox's own on top.
std::vector<std::span<const http::Route>> AllRoutes(auth::Mode mode);

}  // namespace comanda::app
