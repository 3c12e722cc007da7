#pragma once

#include <string>
#include <string_view>

namespace comanda::crypto {

// A UUID of version 5 (RFC 9562 section 5.5): the same namespace and name always give the same id.
// `namespace_id` is the UUID of a company, or one of the program's: Fault kDamaged where it is
// none, since it comes from a row. Any thread.
std::string DerivedId(std::string_view namespace_id, std::string_view name);

}  // namespace comanda::crypto
