#pragma once

// Translates the result codes of libcurl; the only place that does. Internal to this room.

#include <curl/curl.h>

#include "net/call.h"

namespace comanda::net {

Outcome OutcomeOf(CURLcode code);

}  // namespace comanda::net
