#pragma once

// The cursor of the event feed: a position in a company's event log as opaque text (contract
// section 6). It holds the epoch of the log and the seq of the last event seen. The epoch is a
// number that changes when the history of the log does: when a backup is restored, or the sandbox
// reset. A cursor of another epoch is refused, since the same seq may now be another event. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace comanda::events {

struct Cursor {
  int64_t epoch = 0;
  int64_t seq = 0;

  bool operator==(const Cursor&) const = default;
};

std::string Encode(Cursor cursor);
// The inverse of Encode; nothing for any other text.
std::optional<Cursor> Decode(std::string_view text);

}  // namespace comanda::events
