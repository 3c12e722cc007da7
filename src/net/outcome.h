#pragma once

// The one translator of libcurl's result codes. Inside net/ only.

#include <curl/curl.h>

#include "net/call.h"

namespace comanda::net {

Outcome OutcomeOf(CURLcode code);

}  // namespace comanda::net
