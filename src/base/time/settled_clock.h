#pragma once

// A clock that does not trust a step of the wall clock at once (contract section 1, Timestamps).
//
// Small machines without a battery boot with a wrong date, and operators mistype dates. If expiry
// followed the wall clock, one wrong step would expire keys and purge data. The settled clock
// therefore keeps its own offset from monotonic time. While the wall clock stays within 5 minutes
// of it, settled time is wall time, and the offset follows slowly, as fast as a disciplined clock
// may drift (1 ms per second), so that many small steps cannot add up unnoticed. After a larger
// step the clock is "away": settled time continues from before the step, until the step has lasted
// 24 hours or the system reports that its clock is synchronised. Then the new time is adopted.
//
// SettledNow() is the earlier of wall and settled time: a key that has not expired by the wall
// clock is not refused. RetentionNow() ignores steps back as well: data written while the clock was
// behind is not old.

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>

#include "base/time/clock.h"

namespace comanda {

class SettledClock final : public Clock {
 public:
  // `machine` must outlive this object. `is_synchronised` may be called from any thread.
  SettledClock(const Clock& machine, std::function<bool()> is_synchronised);

  UtcMs Now() const override { return machine_.Now(); }
  int64_t MonotonicMs() const override { return machine_.MonotonicMs(); }
  UtcMs SettledNow() const override;
  UtcMs RetentionNow() const override;
  int64_t AwayForMs() const override;
  bool IsSynchronised() const override { return is_synchronised_(); }

  // kAhead, kBehind: a new step was detected, which is not trusted yet. kBelieved: a step was
  // adopted. kRight: the wall clock returned to the settled time.
  enum class Event { kAhead, kBehind, kBelieved, kRight };
  struct Step {
    Event event;
    // The time without the step, and with it.
    UtcMs from;
    UtcMs to;
  };
  // Compares the clocks and returns what has changed since the last call, if anything. The caller
  // (app/clock_watch) calls it every few seconds and logs the result.
  std::optional<Step> Look();

  // Restores the state of the last process, before the first Look(): the settled time is `settled`,
  // and the wall clock has been away from it for `stood_ms` of running time.
  void Resume(UtcMs settled, int64_t stood_ms);

 private:
  int64_t Offset() const { return Now() - MonotonicMs(); }
  void Follow(int64_t offset, int64_t now_ms);

  const Clock& machine_;
  const std::function<bool()> is_synchronised_;
  // Settled time minus monotonic time, ms.
  std::atomic<int64_t> settled_offset_;
  mutable std::mutex mutex_;
  // Guarded by mutex_, with all members below. Monotonic times in ms.
  int64_t looked_at_ms_;
  bool away_ = false;
  int64_t away_offset_ = 0;
  int64_t away_since_ms_ = 0;
};

}  // namespace comanda
