#include "http/long_polls.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace comanda::http {
std::optional<int> ReadWait(std::string_view prefer) {
  while (!prefer.empty()) {
    const size_t comma = std::min(prefer.find(','), prefer.size());
    const std::string_view preference = Trimmed(prefer.substr(0, comma));
    prefer.remove_prefix(std::min(comma + 1, prefer.size()));

    const size_t equals = preference.find('=');
    if (equals == std::string_view::npos) continue;
    if (!AsciiEqualsIgnoreCase(Trimmed(preference.substr(0, equals)), "wait")) continue;
    const std::string_view number = Trimmed(preference.substr(equals + 1));
    int seconds = 0;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), seconds);
    if (error != std::errc() || end != number.data() + number.size() || seconds < 1)
      return std::nullopt;
    return std::min(seconds, kWaitSecondsMax);
  }
  return std::nullopt;
}

void LongPolls::Wake() {
  if (waiting() == 0) return;
  // Under the lock: avoids a lost wake-up between the check and the wait.
  const std::lock_guard lock(mutex_);
  woken_.notify_all();
}

void LongPolls::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  woken_.notify_all();
}

bool LongPolls::Wait(std::chrono::milliseconds time, const std::function<bool()>& changed) {
  if (waiting_.fetch_add(1) >= waiting_max_) {
    waiting_.fetch_sub(1);
    return false;
  }
  {
    std::unique_lock lock(mutex_);
    woken_.wait_for(lock, time, [&] { return stopped_ || changed(); });
  }
  waiting_.fetch_sub(1);
  return true;
}

}  // namespace comanda::http
