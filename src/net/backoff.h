#pragma once

// How long to wait before a failed operation is retried. Pure functions: the caller supplies the
// random number and the time. Any thread.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/time/clock.h"

namespace comanda::net {

// Exponential backoff: the limit doubles with each failure, from first_ms up to max_ms.
struct Growth {
  int64_t first_ms = 1'000;
  int64_t max_ms = 60'000;
};

// The wait in ms after `failures` consecutive failures (from 1), with full jitter: uniform between
// 0 and min(max_ms, first_ms * 2^(failures - 1)), so that clients that failed together do not retry
// together. `random` is uniform over 64 bits.
int64_t WaitWithFullJitter(const Growth& growth, int failures, uint64_t random);

// The wait in ms after `failures` consecutive failures (from 1) by a fixed schedule, varied by up
// to 10 %. Further failures use the last entry.
int64_t WaitOfSchedule(std::span<const int64_t> waits_ms, int failures, uint64_t random);

// The wait in ms that a Retry-After header asks for, clamped to 0...max_ms. Accepts whole seconds
// or an HTTP date (RFC 9110 section 10.2.3); nothing if the value is malformed.
std::optional<int64_t> ReadRetryAfter(std::string_view value, UtcMs now, int64_t max_ms);

}  // namespace comanda::net
