#pragma once

#include <string>
#include <string_view>

namespace comanda::crypto {

// A UUID of version 5 (RFC 9562 section 5.5): the same namespace and name always give the same id.
// `namespace_id` must be a UUID (CHECK). Any thread.
std::string DerivedId(std::string_view namespace_id, std::string_view name);

}  // namespace comanda::crypto
