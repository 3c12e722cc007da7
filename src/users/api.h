#pragma once

// The handler of GET /v1/users (specification, Users; contract section 10). Users are imported; the
// API does not change them.

#include <span>

#include "http/route.h"

namespace comanda::users {

std::span<const http::Route> Routes();

}  // namespace comanda::users
