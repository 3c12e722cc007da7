#pragma once

// GET /problems/{code}: a page for people that says what a problem means and what to do. The `type`
// of problem documents may point here, so that it works without the internet.

#include <span>

#include "http/route.h"

namespace comanda::http {

std::span<const Route> ProblemPageRoutes();

}  // namespace comanda::http
