#include "outbox/pace.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "net/backoff.h"

namespace comanda::outbox {
namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr int kTooManyRequests = 429;
constexpr int kUnavailable = 503;

// A larger quota is not used: one request each millisecond.
constexpr int64_t kLimitMax = kMinuteMs;

// "100", also of lists such as "100, 100;w=60": the first number, at most kLimitMax.
std::optional<int64_t> ReadLimit(std::string_view text) {
  int64_t limit = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (error == std::errc::result_out_of_range && !text.starts_with('-')) return kLimitMax;
  if (error != std::errc() || limit <= 0) return std::nullopt;
  return std::min(limit, kLimitMax);
}

}  // namespace

int64_t Pace::PerMinute() const {
  const int64_t limit =
      limit_per_minute_ == 0 ? kUnknownQuotaPerMinute : limit_per_minute_ * share_percent_ / 100;
  return std::max<int64_t>(1, limit);
}

int64_t Pace::DueInMs(int64_t now_ms) const {
  return std::max({int64_t{0}, used_until_ms_ - kBurstMs - now_ms, not_before_ms_ - now_ms});
}

void Pace::Count(int64_t now_ms) {
  used_until_ms_ = std::max(used_until_ms_, now_ms) + kMinuteMs / PerMinute();
}

void Pace::Learn(const net::Answer& answer, int64_t now_ms, UtcMs wall) {
  if (const auto header = answer.Header("RateLimit-Limit")) {
    if (const auto limit = ReadLimit(*header)) limit_per_minute_ = *limit;
  }
  if (answer.status != kTooManyRequests && answer.status != kUnavailable) return;
  const auto header = answer.Header("Retry-After");
  const auto wait_ms = header ? net::ReadRetryAfter(*header, wall, kRetryAfterMsMax) : std::nullopt;
  if (wait_ms) not_before_ms_ = now_ms + *wait_ms;
}

}  // namespace comanda::outbox
