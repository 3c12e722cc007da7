#pragma once

// /auth/api-keys (contract section 3), on HTTPS and the control socket alike; the audit log for the
// command line alone.

#include <span>

#include "http/route.h"

namespace comanda::keys {

std::span<const http::Route> Routes();

}  // namespace comanda::keys
