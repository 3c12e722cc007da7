#pragma once

// When a message is sent again, and when a receiver counts as down or is suspended (contract
// section 13, Order and failure). Pure: the caller supplies times and random numbers. Any thread.

#include <cstddef>
#include <cstdint>

namespace comanda::webhooks {

// How long a message is tried; then it is dead. Also how long a receiver may fail before it is
// suspended.
inline constexpr int64_t kTriedForMs = 72LL * 60 * 60 * 1000;
// A receiver is not suspended for fewer attempts without success.
inline constexpr int64_t kAttemptsBeforeSuspension = 15;
inline constexpr int64_t kRetryAfterMaxMs = 24LL * 60 * 60 * 1000;

// The wait in ms after that many failures of a message (from 1): 30 s, 5 min, 30 min, 2 h, then 4 h
// each, varied by up to 10 %.
int64_t WaitMs(int failures, uint64_t random);

// What is known of a receiver.
struct Health {
  int64_t failures_in_a_row = 0;
  int64_t late =
      0;  // messages that failed while others passed; those that wait behind them excluded
};
// Never of a receiver whose last attempt succeeded.
bool IsDown(const Health& health);
// The wait between two attempts at a receiver that is down.
int64_t WaitWhileDownMs(bool has_newer_event);

// For a receiver that answers.
inline constexpr size_t kAtOnceMax = 4;
// How many messages may be under way at once: one while the receiver is down; after it was, 1, 2,
// then 4, by the successes since.
size_t AtOnce(const Health& health, int64_t successes_since_down);

// True of a receiver that has failed for kTriedForMs without success, and at enough attempts.
bool MustSuspend(int64_t failing_ms, int64_t attempts_failed);

}  // namespace comanda::webhooks
