#include "webhooks/schedule.h"

#include <array>

#include "net/backoff.h"

namespace comanda::webhooks {
namespace {

constexpr int64_t kSecondMs = 1'000;
constexpr int64_t kMinuteMs = 60 * kSecondMs;
constexpr int64_t kHourMs = 60 * kMinuteMs;
constexpr std::array kWaitsMs = {30 * kSecondMs, 5 * kMinuteMs, 30 * kMinuteMs, 2 * kHourMs,
                                 4 * kHourMs};
constexpr int64_t kFailuresOfDown = 3;
constexpr int64_t kLateOfDown = 1'000;

}  // namespace

int64_t WaitMs(int failures, uint64_t random) {
  return net::WaitOfSchedule(kWaitsMs, failures, random);
}

bool IsDown(const Health& health) {
  return health.failures_in_a_row >= kFailuresOfDown ||
         (health.failures_in_a_row > 0 && health.late >= kLateOfDown);
}

int64_t WaitWhileDownMs(bool has_newer_event) {
  return has_newer_event ? 30 * kSecondMs : 5 * kMinuteMs;
}

size_t AtOnce(const Health& health, int64_t successes_since_down) {
  if (IsDown(health) || successes_since_down < 1) return 1;
  return successes_since_down < 3 ? 2 : kAtOnceMax;
}

bool MustSuspend(int64_t failing_ms, int64_t attempts_failed) {
  return failing_ms >= kTriedForMs && attempts_failed >= kAttemptsBeforeSuspension;
}

}  // namespace comanda::webhooks
