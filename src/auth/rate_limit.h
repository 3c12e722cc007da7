#pragma once

// Rate limits as token buckets (contract section 4). A bucket holds the quota of one minute and
// refills continuously. It is implemented by the generic cell rate algorithm (GCRA), which keeps
// one number per key and needs no timer: the theoretical arrival time, at which the bucket will be
// full again.

#include <atomic>
#include <cstdint>
#include <optional>

#include "auth/key.h"

namespace comanda::auth {

// The values of the RateLimit-* headers after a request. All zero if the rate is unlimited.
struct RateState {
  int64_t limit = 0;
  int64_t remaining = 0;
  // Whole seconds until the bucket is full.
  int64_t reset_s = 0;
  // Above 0: the request is refused; whole seconds until one request is allowed.
  int64_t retry_after_s = 0;
};

// Quota and capacity of a bucket.
struct Rate {
  // 0: unlimited.
  int64_t per_minute = 0;
};

// Takes one request from the bucket, or refuses it (retry_after_s). Lock-free; any thread. `now_us`
// is monotonic time in us.
RateState TakeToken(std::atomic<int64_t>& theoretical_arrival_us, Rate rate, int64_t now_us);
// Returns one request to the bucket.
RateState ReturnToken(std::atomic<int64_t>& theoretical_arrival_us, Rate rate, int64_t now_us);

// How many requests of one key may be in progress at once.
int UnderWayMax(Tier tier);

}  // namespace comanda::auth
