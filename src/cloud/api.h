#pragma once

// The handlers of `comanda cloud`, for the command line alone: /control/cloud and below.

#include <span>

#include "http/route.h"

namespace comanda::cloud {

std::span<const http::Route> Routes();

}  // namespace comanda::cloud
