#pragma once

// POST /control/resume: ends the hold of outgoing messages (machine/hold.h). For `comanda resume`.

#include <span>

#include "http/route.h"

namespace comanda::app {

std::span<const http::Route> ResumeRoutes();

}  // namespace comanda::app
