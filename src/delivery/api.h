#pragma once

// GET /v1/stores/status (contract section 12), and the handlers of `comanda provider`.

#include <span>

#include "http/route.h"

namespace comanda::delivery {

std::span<const http::Route> Routes();
// /control/provider and below, for the command line alone; of the live environment, since the
// sandbox asks no app.
std::span<const http::Route> ControlRoutes();

}  // namespace comanda::delivery
