#pragma once

// The handlers for those who let devices in and shut them out (contract sections 3 and 22), under
// /box/devices: a device that asks shows a number (auth/device_requests.h), and somebody with
// admin:write types it, who chooses its role and name. A device is a key with a role.
//
// Numbers have six digits: one key may mistype ten within a minute, and no list over the API shows
// them.

#include <span>

#include "http/route.h"

namespace comanda::keys {

std::span<const http::Route> DeviceRoutes();

}  // namespace comanda::keys
