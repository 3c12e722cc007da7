#include "auth/rate_limit.h"

#include <algorithm>

#include "base/check.h"

namespace comanda::auth {
namespace {

constexpr int64_t kSecondUs = 1'000'000;
constexpr int64_t kMinuteUs = 60 * kSecondUs;

// The time in which one request's share of the bucket refills.
int64_t ShareUs(Rate rate) { return std::max<int64_t>(1, kMinuteUs / rate.per_minute); }
int64_t FullUs(Rate rate) { return ShareUs(rate) * rate.per_minute; }

int64_t WholeSeconds(int64_t us) { return (us + kSecondUs - 1) / kSecondUs; }

// `debt_us` is how far the theoretical arrival time lies in the future; 0 if the bucket is full.
RateState StateOf(Rate rate, int64_t debt_us) {
  return {.limit = rate.per_minute,
          .remaining = std::max<int64_t>(0, (FullUs(rate) - debt_us) / ShareUs(rate)),
          .reset_s = WholeSeconds(debt_us)};
}

}  // namespace

RateState TakeToken(std::atomic<int64_t>& theoretical_arrival_us, Rate rate, int64_t now_us) {
  if (rate.per_minute <= 0) return {};
  int64_t before = theoretical_arrival_us.load(std::memory_order_relaxed);
  while (true) {
    const int64_t after = std::max(before, now_us) + ShareUs(rate);
    const int64_t too_early_us = after - now_us - FullUs(rate);
    if (too_early_us > 0) {
      const int64_t wait_s = std::max<int64_t>(1, WholeSeconds(too_early_us));
      return {.limit = rate.per_minute, .remaining = 0, .reset_s = wait_s, .retry_after_s = wait_s};
    }
    if (theoretical_arrival_us.compare_exchange_weak(before, after, std::memory_order_relaxed)) {
      return StateOf(rate, after - now_us);
    }
  }
}

RateState ReturnToken(std::atomic<int64_t>& theoretical_arrival_us, Rate rate, int64_t now_us) {
  if (rate.per_minute <= 0) return {};
  const int64_t after =
      theoretical_arrival_us.fetch_sub(ShareUs(rate), std::memory_order_relaxed) - ShareUs(rate);
  return StateOf(rate, std::max<int64_t>(0, after - now_us));
}

int UnderWayMax(Tier tier) {
  switch (tier) {
    case Tier::kStandard:
      return 8;
    case Tier::kPlus:
      return 32;
    case Tier::kLan:
      return 64;
    case Tier::kUnlimited:
      return 64;
  }
  CHECK(false, "every tier has a limit");
}

}  // namespace comanda::auth
