#pragma once

// GET /v1/users (specification, Users; contract section 10).

#include <span>

#include "http/route.h"

namespace comanda::users {

std::span<const http::Route> Routes();

}  // namespace comanda::users
