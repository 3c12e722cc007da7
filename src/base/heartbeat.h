#pragma once

// Proof of life of the long-running threads: the watchdog pings systemd only while every heartbeat
// is fresh (design section 5).

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace comanda {

class Heartbeats;

// A constructor argument of each thread's owner. Beat() from that thread, at least every
// max_age_ms.
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

class Heartbeats {
 public:
  explicit Heartbeats(const Clock& clock) : clock_(clock) {}
  // The names of the threads that have not beaten in time; empty when all are well.
  std::vector<std::string> Stale() const;

 private:
  friend class Heartbeat;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::vector<Heartbeat*> members_;  // guarded by mutex_
};

}  // namespace comanda
