#pragma once

// When a message is sent again, and when a receiver counts as down or is suspended (contract
// section 13, Order and failure). Any thread.

#include <cstdint>

#include "outbox/lane.h"

namespace comanda::webhooks {

// How long a message is tried; then it is dead. Also how long a receiver may fail before it is
// suspended.
inline constexpr int64_t kTriedForMs = 72LL * 60 * 60 * 1000;
// A receiver is not suspended for fewer attempts without success.
inline constexpr int64_t kAttemptsBeforeSuspension = 15;
inline constexpr int64_t kRetryAfterMaxMs = 24LL * 60 * 60 * 1000;
// Messages under way to a receiver that answers; after it was down, 1, 2, then so many.
inline constexpr size_t kAtOnceMax = 4;

// The wait in ms after that many failures of a message (from 1): 30 s, 5 min, 30 min, 2 h, then 4 h
// each, varied by up to 10 %.
int64_t WaitMs(int64_t failures, uint64_t random);
// The wait between two attempts at a receiver that is down.
int64_t WaitWhileDownMs(bool has_newer_event);

inline constexpr outbox::Patience kPatience = {.wait_ms = WaitMs, .tried_for_ms = kTriedForMs};
inline constexpr outbox::LaneRules kLaneRules = {.at_once_max = kAtOnceMax,
                                                 .down_after = 3,
                                                 .down_late = 1'000,
                                                 .wait_down_ms = WaitWhileDownMs};

// True of a receiver that has failed for kTriedForMs without success, and at enough attempts.
bool MustSuspend(int64_t failing_ms, int64_t attempts_failed);

}  // namespace comanda::webhooks
