#pragma once

// Percent-encoding (RFC 3986 section 2.1). Pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace comanda::wire {

enum class PlusSign : uint8_t {
  kItself,  // a plus sign is one: in paths
  kBlank,   // a plus sign is a blank: in queries, as browsers encode forms
};

// Empty where an escape is malformed, or where the decoded text is not UTF-8 or contains NUL.
std::optional<std::string> PercentDecoded(std::string_view text, PlusSign plus);

// The text as one segment of a path: everything is escaped but letters, digits and "-._~".
std::string PercentEncoded(std::string_view text);

}  // namespace comanda::wire
