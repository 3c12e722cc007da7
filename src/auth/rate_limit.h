#pragma once

// Token buckets as GCRA: one number per key, no timer (contract section 4).

#include <atomic>
#include <cstdint>
#include <optional>

#include "auth/key.h"

namespace comanda::auth {

// The numbers of the RateLimit-* headers; none for `unlimited`.
struct RateState {
  int64_t limit = 0;
  int64_t remaining = 0;
  int64_t reset_s = 0;        // whole seconds until the bucket is full
  int64_t retry_after_s = 0;  // above 0: refused
};

// A bucket that holds one minute's quota and refills continuously.
struct Rate {
  int64_t per_minute = 0;  // 0: unlimited
};

// Takes one request from the bucket, or says how long to wait. now_us is monotonic.
RateState Take(std::atomic<int64_t>& theoretical_arrival_us, Rate rate, int64_t now_us);
// Gives it back (a 304 costs nothing); the state after that.
RateState GiveBack(std::atomic<int64_t>& theoretical_arrival_us, Rate rate, int64_t now_us);

// Requests under way at once that a tier allows.
int UnderWayMax(Tier tier);

}  // namespace comanda::auth
