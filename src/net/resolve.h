#pragma once

// Looks up the addresses of a host name, for the check of a receiver when it is named. Calls look
// names up themselves, and check each address that they dial (net/call.h).

#include <cstdint>
#include <string>
#include <vector>

#include "net/local_names.h"

namespace comanda::net {

// Numeric, as inet_ntop(3) writes them. Empty where the name has none, or no answer came in time.
// Names under .local are looked up as calls do it (net/local_names.h). Blocks for that time at
// most. Any thread.
std::vector<std::string> FindAddresses(const std::string& host, int64_t timeout_ms,
                                       const LocalNames& names = {});

}  // namespace comanda::net
