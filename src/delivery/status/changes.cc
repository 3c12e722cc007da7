#include "delivery/status/changes.h"

#include <utility>

namespace comanda::delivery {

StateNews Take(Watched& watched, StoreStatus status, int64_t now_ms) {
  const auto before = std::exchange(watched.seen, status);
  if (status != StoreStatus::kUnknown) {
    watched.unknown_since_ms.reset();
  } else if (!watched.unknown_since_ms) {
    watched.unknown_since_ms = now_ms;
  }
  const bool has_stood = status == StoreStatus::kUnknown
                             ? now_ms - *watched.unknown_since_ms >= kUnknownMs
                             : before == status;
  if (!has_stood || watched.reported == status) return {};
  const bool is_first = !watched.reported;
  watched.reported = status;
  return {.is_new = true, .is_first = is_first};
}

}  // namespace comanda::delivery
