#pragma once

// POST /sandbox/reset (contract section 14): in the test environment alone.

#include <span>

#include "http/route.h"

namespace comanda::app {

std::span<const http::Route> SandboxRoutes();

}  // namespace comanda::app
