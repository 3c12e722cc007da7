#pragma once

// The handlers of GET /v1/openapi.json, GET /docs and GET /docs/tools.js: the description of the
// API for programs and for people. They need neither a key nor access to the internet.

#include <span>

#include "http/route.h"

namespace comanda::web {

std::span<const http::Route> Routes();

}  // namespace comanda::web
