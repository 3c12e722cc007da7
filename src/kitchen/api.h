#pragma once

// The endpoints of the room (contract section 20).

#include <span>

#include "http/route.h"

namespace comanda::kitchen {

std::span<const http::Route> Routes();
std::span<const http::Route> StationRoutes();

}  // namespace comanda::kitchen
