#pragma once

// Requests that are held until something changes (contract section 6, long polling; RFC 7240
// `wait`). Each holds a worker, so at most so many wait at once; above that the answer comes at
// once.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>

namespace comanda::http {

// The seconds that a Prefer header is ready to wait, at most 30; nothing where it names none or
// cannot be read.
std::optional<int> ReadWait(std::string_view prefer);

// Any thread.
class LongPolls {
 public:
  explicit LongPolls(int waiting_max) : waiting_max_(waiting_max) {}

  // Wakes all that wait, to look again: called after each commit that changed something.
  void Wake();
  // Ends every wait, for good: the server stops.
  void Stop();

  // True when it waited: until changed() or the time was up. False where no place was free.
  bool Wait(std::chrono::milliseconds time, const std::function<bool()>& changed);

  int waiting() const { return waiting_.load(std::memory_order_relaxed); }

 private:
  const int waiting_max_;
  std::atomic<int> waiting_{0};
  std::mutex mutex_;
  std::condition_variable woken_;
  bool stopped_ = false;  // guarded by mutex_
};

}  // namespace comanda::http
