#pragma once

// Liveness of the long-running threads. Each owns a Heartbeat and beats regularly; the watchdog
// thread pings systemd only while every heartbeat is recent, so that a thread that hangs gets the
// process restarted (design section 5).

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"

namespace comanda {

class Heartbeats;

// Registers itself for its lifetime. The thread that it stands for calls Beat() at least every
// `max_age_ms`, also while idle.
class Heartbeat {
 public:
  Heartbeat(Heartbeats& heartbeats, std::string name, int64_t max_age_ms);
  ~Heartbeat();
  void Beat();

 private:
  friend class Heartbeats;
  Heartbeats& heartbeats_;
  std::string name_;
  int64_t max_age_ms_;
  std::atomic<int64_t> last_ms_;
};

// The registered heartbeats of the process, which they must not outlive. Any thread.
class Heartbeats {
 public:
  explicit Heartbeats(const Clock& clock) : clock_(clock) {}
  // The names of the threads whose last beat is older than their maximum; empty if all are alive.
  std::vector<std::string> Stale() const;

 private:
  friend class Heartbeat;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::vector<Heartbeat*> members_;  // guarded by mutex_
};

}  // namespace comanda
