#pragma once

// The handlers of pairing (contract section 3) for devices, which have no key yet: POST /auth/pair
// and POST /auth/pair/requests; and those of `comanda pair`. Who lets devices in: devices_api.h.
//
// A code that is not accepted is counted like an unknown key, and written to the audit log: of the
// company that made it, or of every company where no code is known. At most 20 rows a minute; the
// next row says how many were left out, so that guessing fills neither the disk nor the writer's
// queue.

#include <span>

#include "http/route.h"

namespace comanda::keys {

std::span<const http::Route> PairingRoutes();

}  // namespace comanda::keys
