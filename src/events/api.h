#pragma once

// GET /v1/events: pages of the company's event log after a cursor (contract section 6). A key sees
// the kinds of events that its scopes show; without any such scope it gets insufficient_scope.

#include <span>

#include "http/route.h"

namespace comanda::events {

std::span<const http::Route> Routes();

}  // namespace comanda::events
