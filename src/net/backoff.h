#pragma once

// How long to wait before something that failed is tried again. Pure: the caller brings the random
// number and the time.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/clock.h"

namespace comanda::net {

// Waits that double with every failure, up to a limit.
struct Growth {
  int64_t first_ms = 1'000;
  int64_t max_ms = 60'000;
};

// The wait after that many failures in a row (from 1), with full jitter: uniform between 0 and
// min(max, first * 2^(failures - 1)), so that many who failed together do not come back together.
// `random` is uniform over all 64 bits.
int64_t WaitWithFullJitter(const Growth& growth, int failures, uint64_t random);

// The wait of a given schedule after that many failures in a row (from 1), within 10 % of it. The
// last wait of the schedule holds for all further failures.
int64_t WaitOfSchedule(std::span<const int64_t> waits_ms, int failures, uint64_t random);

// What a Retry-After header asks for (RFC 9110 section 10.2.3: whole seconds, or an HTTP date),
// from 0 to max_ms. Nothing where it can not be read.
std::optional<int64_t> ReadRetryAfter(std::string_view value, UtcMs now, int64_t max_ms);

}  // namespace comanda::net
