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

}  // namespace

int64_t WaitMs(int64_t failures, uint64_t random) {
  return net::WaitOfSchedule(kWaitsMs, static_cast<int>(failures), random);
}

int64_t WaitWhileDownMs(bool has_newer_event) {
  return has_newer_event ? 30 * kSecondMs : 5 * kMinuteMs;
}

bool MustSuspend(int64_t failing_ms, int64_t attempts_failed) {
  return failing_ms >= kTriedForMs && attempts_failed >= kAttemptsBeforeSuspension;
}

}  // namespace comanda::webhooks
