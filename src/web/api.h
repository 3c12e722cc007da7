#pragma once

// GET /v1/openapi.json and GET /docs: what this server can do, for programs and for people, without
// a key and without the internet.

#include <span>

#include "http/route.h"

namespace comanda::web {

std::span<const http::Route> Routes();

}  // namespace comanda::web
