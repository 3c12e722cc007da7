#pragma once

// The validating pass over the bytes of a JSON text (RFC 8259, and the limits in reader.h), which
// runs before cJSON sees them. Internal to this room.

#include <cstdint>
#include <string_view>
#include <vector>

namespace comanda::json {

// The position of one value in the text, in bytes.
struct Location {
  // First byte of the value.
  uint32_t offset;
  // Length of the text of a number; 0 for other kinds.
  uint32_t length;
  // First byte of the member's name; equal to `offset` for a value that is not a member.
  uint32_t key_offset;
};

// The positions of all values in document order, a container before its content. Throws
// Refusal(kInvalidJson) if the text is not exactly one JSON value.
std::vector<Location> Scan(std::string_view text);

// Throws Refusal(kInvalidJson) with `what`, and the line, column and byte of `offset`.
[[noreturn]] void RefuseAt(std::string_view text, size_t offset, std::string_view what);

}  // namespace comanda::json
