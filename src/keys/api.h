#pragma once

// The handlers of /auth/api-keys (contract section 3), on HTTPS and on the control socket. The
// audit log is served on the control socket only.

#include <span>

#include "http/route.h"

namespace comanda::keys {

std::span<const http::Route> Routes();

}  // namespace comanda::keys
