#pragma once

// A clock that changes only when the test says so. Any thread.

#include <atomic>

#include "base/time/clock.h"

namespace comanda::testing {

class FakeClock : public Clock {
 public:
  UtcMs Now() const override { return now_; }
  int64_t MonotonicMs() const override { return monotonic_ms_; }

  // Advances wall and monotonic time.
  void Advance(int64_t ms) {
    now_ += ms;
    monotonic_ms_ += ms;
  }
  // Steps the wall clock alone, as an operator or NTP does.
  void SetWall(UtcMs now) { now_ = now; }

 private:
  std::atomic<UtcMs> now_{1'800'000'000'000};
  std::atomic<int64_t> monotonic_ms_{1'000'000};
};

}  // namespace comanda::testing
