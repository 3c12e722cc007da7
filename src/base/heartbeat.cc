#include "base/heartbeat.h"

#include <algorithm>
#include <utility>

namespace comanda {

Heartbeat::Heartbeat(Heartbeats& heartbeats, std::string name, int64_t max_age_ms)
    : heartbeats_(heartbeats),
      name_(std::move(name)),
      max_age_ms_(max_age_ms),
      last_ms_(heartbeats.clock_.MonotonicMs()) {
  const std::lock_guard lock(heartbeats_.mutex_);
  heartbeats_.members_.push_back(this);
}

Heartbeat::~Heartbeat() {
  const std::lock_guard lock(heartbeats_.mutex_);
  std::erase(heartbeats_.members_, this);
}

void Heartbeat::Beat() {
  last_ms_.store(heartbeats_.clock_.MonotonicMs(), std::memory_order_relaxed);
}

std::vector<std::string> Heartbeats::Stale() const {
  const std::lock_guard lock(mutex_);
  const int64_t now_ms = clock_.MonotonicMs();
  std::vector<std::string> stale;
  for (const Heartbeat* member : members_) {
    const int64_t age_ms = now_ms - member->last_ms_.load(std::memory_order_relaxed);
    if (age_ms > member->max_age_ms_) stale.push_back(member->name_);
  }
  return stale;
}

}  // namespace comanda
