#pragma once

// Long polls: requests that wait until something changes (contract section 6; RFC 7240 `wait`).
// Each of them occupies a worker thread, so their number is bounded; a request above the bound is
// answered at once.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>

namespace comanda::http {

inline constexpr int kWaitSecondsMax = 30;
// The seconds of `wait` in a Prefer header, at most kWaitSecondsMax. Empty where there is no
// `wait`, or its value is malformed.
std::optional<int> ReadWait(std::string_view prefer);

// Thread-safe.
class LongPolls {
 public:
  // `waiting_max`: how many may wait at the same time.
  explicit LongPolls(int waiting_max) : waiting_max_(waiting_max) {}

  // Lets all waiting requests check again: called after each commit that changed something.
  void Wake();
  // Ends every wait, also those that begin later: the server stops.
  void Stop();

  // Blocks until changed() returns true, the time is over or Stop() was called. changed() is called
  // by this thread, under the lock. False, without a wait, where too many requests wait already.
  bool Wait(std::chrono::milliseconds time, const std::function<bool()>& changed);

  // How many requests wait now.
  int waiting() const { return waiting_.load(std::memory_order_relaxed); }

 private:
  const int waiting_max_;
  std::atomic<int> waiting_{0};
  std::mutex mutex_;
  std::condition_variable woken_;
  bool stopped_ = false;  // guarded by mutex_
};

}  // namespace comanda::http
