#pragma once

// The handlers of /auth/api-keys (contract section 3), on HTTPS and on the control socket. The
// audit log is served on the control socket only.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/route.h"
#include "keys/key.h"

namespace comanda::keys {

std::span<const http::Route> Routes();

// The tag of a list of keys. It includes last uses rounded to minutes: reading the list uses a key,
// so that with exact times every answer would have a new tag.
std::string TagOf(std::vector<Key> keys, std::string_view rest);

}  // namespace comanda::keys
