#pragma once

// Identifiers: UUIDs as lower-case text (contract section 1: the box makes version 7; any version
// and any case is accepted).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace comanda {

// Version 7 of RFC 9562: the given time, a counter that begins at random, and 32 random bits of
// this process. Ids made in one millisecond by one process sort in the order they were made.
// Unique, but not hard to guess: no id is a secret. Any thread.
std::string NewId(UtcMs now);

// The id in lower case, or nothing where it is not a UUID in 8-4-4-4-12 form.
std::optional<std::string> ParseId(std::string_view text);

// The 16 bytes behind the text: of an id as ParseId returns it, and back with the version and the
// variant of RFC 9562 set.
using IdBytes = std::array<uint8_t, 16>;
IdBytes BytesOfId(std::string_view lower_case_id);
std::string FormatId(IdBytes bytes, uint8_t version);

}  // namespace comanda
