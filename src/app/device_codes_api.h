#pragma once

// POST /box/devices/codes (contract section 22): a pairing code as a QR code, which the panel shows
// to the camera of a device; and what `comanda pair` shows before a code.

#include <span>

#include "http/route.h"

namespace comanda::app {

std::span<const http::Route> DeviceCodeRoutes();

}  // namespace comanda::app
