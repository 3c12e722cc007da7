#pragma once

// Identifiers: UUIDs as lower-case text (contract section 1, Ids). The program creates version 7
// and accepts any version in any case. Any thread.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time/clock.h"

namespace comanda {

// A UUID of version 7 (RFC 9562 section 5.7): the given time, a 42-bit counter that starts at a
// random value, and 32 random bits of this process. Ids created by one process in the same
// millisecond sort in the order of their creation. Unique, but guessable: an id is never a secret.
std::string NewId(UtcMs now);

// The id in lower case; nothing if the text is not a UUID in 8-4-4-4-12 form.
std::optional<std::string> ParseId(std::string_view text);

// Conversion between the text of a UUID, as ParseId() returns it, and its 16 bytes. FormatId() sets
// the version and the variant (RFC 9562 section 4).
using IdBytes = std::array<uint8_t, 16>;
IdBytes BytesOfId(std::string_view lower_case_id);
std::string FormatId(IdBytes bytes, uint8_t version);

}  // namespace comanda
