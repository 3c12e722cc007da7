#pragma once

// A state of the store as JSON: a row of GET /v1/stores/status, and the record of the event
// STORE_STATUS_CHANGED.

#include <string>

#include "delivery/provider.h"

namespace comanda::delivery {

std::string Render(const StatusRow& row);

}  // namespace comanda::delivery
