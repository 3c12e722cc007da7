#pragma once

// How tests wait: for a condition, never for a time.

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

namespace comanda::testing {

// Only catches hangs: machines are noisy, sanitizers slow. COMANDA_PATIENCE is the one of
// support/box.py, in seconds.
inline const int64_t kPatienceMs = [] {
  const char* const seconds = std::getenv("COMANDA_PATIENCE");
  return 1000 * (seconds != nullptr ? std::strtoll(seconds, nullptr, 10) : 30);
}();

// Waits until the condition holds. Returns whether it does.
template <typename Condition>
[[nodiscard]] bool Await(const Condition& condition,
                         std::chrono::milliseconds poll = std::chrono::milliseconds(1)) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (!condition()) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(poll);
  }
  return true;
}

// Waits until the thread of this process (gettid) is blocked, for example in the condition variable
// of a function that blocks. Returns whether it is.
[[nodiscard]] inline bool AwaitBlocked(pid_t thread) {
  return Await([&] {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string stat;
    std::getline(file, stat);
    const size_t name_end = stat.rfind(')');
    return name_end != stat.npos && stat.substr(name_end, 3) == ") S";
  });
}

}  // namespace comanda::testing
