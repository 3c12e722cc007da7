#pragma once

// The routes of the whole API: the tables of all rooms.

#include <span>
#include <vector>

#include "auth/key.h"
#include "http/route.h"

namespace comanda::app {

// The routes of an environment. Only the test environment has POST /sandbox/reset.
std::vector<std::span<const http::Route>> AllRoutes(auth::Mode mode);

}  // namespace comanda::app
