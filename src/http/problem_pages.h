#pragma once

// GET /problems/{code}: what an error means and what to do, for people, also without the internet.

#include <span>

#include "http/route.h"

namespace comanda::http {

std::span<const Route> ProblemPageRoutes();

}  // namespace comanda::http
