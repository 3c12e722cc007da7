#pragma once

// GET /v1/events: the company's event log as a feed (contract section 6).

#include <span>

#include "http/route.h"

namespace comanda::events {

std::span<const http::Route> Routes();

}  // namespace comanda::events
