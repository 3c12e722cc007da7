#pragma once

#include <string>
#include <string_view>

namespace comanda::crypto {

// An identifier of version 5 of RFC 9562 (SHA-1): the same namespace and name give the same id on
// every machine. `namespace_id` is a UUID; anything else ends the process.
std::string DerivedId(std::string_view namespace_id, std::string_view name);

}  // namespace comanda::crypto
