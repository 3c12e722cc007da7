#pragma once

// Where a reader stands in a company's event log, as opaque text: the database's epoch and the
// number of the last event seen (contract section 6).

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
// Nothing where the text is no cursor.
std::optional<Cursor> Decode(std::string_view text);

}  // namespace comanda::events
