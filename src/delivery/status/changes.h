#pragma once

// When a state that was looked up is news: STORE_STATUS_CHANGED (contract section 12). Pure.

#include <cstdint>
#include <optional>

#include "delivery/provider.h"

namespace comanda::delivery {

// An app that does not answer is reported once it has been silent for this long, ms.
inline constexpr int64_t kUnknownMs = 5 * 60'000;

// What is known of one app.
struct Watched {
  std::optional<StoreStatus> reported;           // the last that was told; nothing: none yet
  std::optional<StoreStatus> seen;               // by the look-up before
  std::optional<int64_t> unknown_since_ms = {};  // monotonic; while `seen` is UNKNOWN
};

// Takes the state of a look-up. True where it is to be kept as reported: it was seen twice in a row
// and differs from the last, or it is UNKNOWN for kUnknownMs. `is_first` then says that there was
// none before: it is kept without an event.
struct StateNews {
  bool is_new = false;
  bool is_first = false;
};
StateNews Take(Watched& watched, StoreStatus status, int64_t now_ms);

}  // namespace comanda::delivery
