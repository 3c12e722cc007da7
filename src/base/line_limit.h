#pragma once

// A bound on log lines that others cause: clients without a key, or a library that tries the same
// failing call again and again. Without it they could fill the log and wear the flash.

#include <atomic>
#include <cstdint>

namespace comanda {

class LineLimit {
 public:
  // At most `lines` in each period of `period_ms`.
  constexpr LineLimit(int lines, int64_t period_ms) : lines_(lines), period_ms_(period_ms) {}

  // True if a line may be written at `monotonic_ms`, which counts it. Any thread. Two threads at
  // the turn of a period may write a few lines more.
  bool Allows(int64_t monotonic_ms) noexcept {
    const int64_t period = monotonic_ms / period_ms_;
    if (period_.exchange(period, std::memory_order_relaxed) != period) {
      written_.store(0, std::memory_order_relaxed);
    }
    return written_.fetch_add(1, std::memory_order_relaxed) < lines_;
  }

 private:
  const int lines_;
  const int64_t period_ms_;
  std::atomic<int64_t> period_ = -1;
  std::atomic<int> written_ = 0;
};

}  // namespace comanda
