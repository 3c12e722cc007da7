#pragma once

// Percent-encoding (RFC 3986 section 2.1).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace comanda::wire {

enum class PlusSign : uint8_t {
  kItself,  // in paths
  kBlank,   // in queries, as forms send them
};

// Nothing where an escape is malformed or the result is no UTF-8 text or has NUL in it.
std::optional<std::string> PercentDecoded(std::string_view text, PlusSign plus);

}  // namespace comanda::wire
