#pragma once

// The machine's clock, with a time beside it that a wrong clock does not carry away (contract
// section 1: nothing is purged or expires because of a forward jump until it has stood 24 h or the
// system says that its clock is synchronised).
//
// SettledNow follows a step back at once: what has not expired by the wall clock is not refused.
// RetentionNow follows none: what was written while the clock was behind is not old.

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>

#include "base/clock.h"

namespace comanda {

class SettledClock final : public Clock {
 public:
  // `machine` outlives this. Any thread may ask `is_synchronised`.
  SettledClock(const Clock& machine, std::function<bool()> is_synchronised);

  UtcMs Now() const override { return machine_.Now(); }
  int64_t MonotonicMs() const override { return machine_.MonotonicMs(); }
  UtcMs SettledNow() const override;
  UtcMs RetentionNow() const override;
  int64_t AwayForMs() const override;
  bool IsSynchronised() const override { return is_synchronised_(); }

  // A step of more than 5 minutes, and what became of it.
  enum class Event { kAhead, kBehind, kBelieved, kRight };
  struct Step {
    Event event;
    UtcMs from;  // what it would be without the step
    UtcMs to;
  };
  // Looks for a step since the last time. At least every few seconds.
  std::optional<Step> Look();

  // At start, before Look(): the clock is away from `settled`, and was for so long while a process
  // ran.
  void Resume(UtcMs settled, int64_t stood_ms);

 private:
  int64_t Offset() const { return Now() - MonotonicMs(); }
  void Follow(int64_t offset, int64_t now_ms);

  const Clock& machine_;
  const std::function<bool()> is_synchronised_;
  std::atomic<int64_t> settled_offset_;  // from the time that never steps
  mutable std::mutex mutex_;
  int64_t looked_at_ms_;  // guarded by mutex_, as all below
  bool away_ = false;
  int64_t away_offset_ = 0;
  int64_t away_since_ms_ = 0;  // by the monotonic clock
};

}  // namespace comanda
