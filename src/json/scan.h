#pragma once

// The strict pass over the bytes of a JSON text, before cJSON may see it (RFC 8259 and the limits
// of reader.h). Of this room alone.

#include <cstdint>
#include <string_view>
#include <vector>

namespace comanda::json {

// Where one value stands in the text.
struct Mark {
  uint32_t offset;      // of its first byte
  uint32_t length;      // numbers only: of their text
  uint32_t key_offset;  // of the name before it, or its own offset where it has none
};

// One mark for each value, in document order, each container before what it contains. Refusal
// invalid_json where the text is anything but one JSON value.
std::vector<Mark> Scan(std::string_view text);

// Refusal invalid_json: `what` and the line, the column and the byte.
[[noreturn]] void RefuseAt(std::string_view text, size_t offset, std::string_view what);

}  // namespace comanda::json
