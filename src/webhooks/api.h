#pragma once

// The endpoints /v1/webhooks (contract section 13).

#include <span>

#include "http/route.h"

namespace comanda::webhooks {

std::span<const http::Route> Routes();

}  // namespace comanda::webhooks
