#pragma once

// For how long the owner of a database may answer without having heard from it. Another process
// takes over once the server has freed the lock, after 8 s at the earliest, or on another server
// once that is the primary.
//
// The lease is counted from when the server was asked, not from when it answered: a process that
// was stopped meanwhile reads the answer long afterwards. Any answer prolongs a lease that holds.
// One that has run out is renewed by a commit alone: a former primary that hung and wakes answers
// questions as before, but its standbys have left it, so that no commit of it ends.
//
// Renewed by one thread, read by any.

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace comanda::db {

class Lease {
 public:
  static constexpr int64_t kMs = 5'000;

  // All times are Clock::MonotonicMs(), which goes on while the process is stopped.
  bool Holds(int64_t now_ms) const { return now_ms - from_ms_ < kMs; }
  void Prolong(int64_t asked_ms, int64_t now_ms) {
    if (Holds(now_ms)) from_ms_ = std::max(from_ms_.load(), asked_ms);
  }
  void Renew(int64_t asked_ms) { from_ms_ = asked_ms; }

 private:
  std::atomic<int64_t> from_ms_{-kMs};
};

}  // namespace comanda::db
