#pragma once

// GET /problems and /problems/{code}: pages for people that say what a problem means and what to
// do, in the languages of the other pages. The `type` of problem documents may point here, so that
// it works without the internet.

#include <span>

#include "http/route.h"

namespace comanda::web {

std::span<const http::Route> ProblemPageRoutes();

}  // namespace comanda::web
