#include "base/time/settled_clock.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace comanda {
namespace {

constexpr int64_t kStepMinMs = 5 * 60'000;
constexpr int64_t kBelievedAfterMs = 24LL * 60 * 60'000;
// A disciplined clock gains or loses at most 1 ms in this many ms.
constexpr int64_t kDriftPerMs = 1000;

}  // namespace

SettledClock::SettledClock(const Clock& machine, std::function<bool()> is_synchronised)
    : machine_(machine),
      is_synchronised_(std::move(is_synchronised)),
      settled_offset_(machine.Now() - machine.MonotonicMs()),
      looked_at_ms_(machine.MonotonicMs()) {}

UtcMs SettledClock::SettledNow() const { return std::min(Now(), RetentionNow()); }

UtcMs SettledClock::RetentionNow() const {
  const UtcMs now = Now();
  const UtcMs settled = MonotonicMs() + settled_offset_.load(std::memory_order_relaxed);
  return std::abs(now - settled) > kStepMinMs ? settled : now;
}

int64_t SettledClock::AwayForMs() const {
  const std::lock_guard lock(mutex_);
  return away_ ? std::max<int64_t>(MonotonicMs() - away_since_ms_, 1) : 0;
}

std::optional<SettledClock::Step> SettledClock::Look() {
  const std::lock_guard lock(mutex_);
  const int64_t now_ms = MonotonicMs();
  const int64_t offset = Offset();
  const int64_t settled = settled_offset_;
  const auto step = [&](Event event, int64_t from) {
    return Step{event, now_ms + from, now_ms + offset};
  };

  if (std::abs(offset - settled) <= kStepMinMs) {
    Follow(offset, now_ms);
    if (!std::exchange(away_, false)) return std::nullopt;
    return step(Event::kRight, away_offset_);
  }

  looked_at_ms_ = now_ms;
  const bool is_new = !away_ || std::abs(offset - away_offset_) > kStepMinMs;
  if (is_new) away_since_ms_ = now_ms;
  away_ = true;
  away_offset_ = offset;
  if (now_ms - away_since_ms_ >= kBelievedAfterMs || is_synchronised_()) {
    away_ = false;
    settled_offset_ = offset;
    return step(Event::kBelieved, settled);
  }
  if (is_new) return step(offset > settled ? Event::kAhead : Event::kBehind, settled);
  return std::nullopt;
}

// Moves the settled time towards the wall clock, no faster than a clock can drift: otherwise many
// small steps could add up to a large one.
void SettledClock::Follow(int64_t offset, int64_t now_ms) {
  const int64_t drift_max = (now_ms - looked_at_ms_) / kDriftPerMs;
  // Keeps looked_at_ms_, so that the fraction of a millisecond is not lost.
  if (drift_max == 0) return;
  settled_offset_ += std::clamp(offset - settled_offset_, -drift_max, drift_max);
  looked_at_ms_ = now_ms;
}

void SettledClock::Resume(UtcMs settled, int64_t stood_ms) {
  const std::lock_guard lock(mutex_);
  settled_offset_ = settled - MonotonicMs();
  away_ = true;
  away_offset_ = Offset();
  away_since_ms_ = MonotonicMs() - stood_ms;
}

}  // namespace comanda
