#pragma once

// POST /sandbox/reset (contract section 14). Only the test environment has this route.

#include <span>

#include "http/route.h"

namespace comanda::app {

std::span<const http::Route> SandboxRoutes();

}  // namespace comanda::app
