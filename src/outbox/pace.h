#pragma once

// The pace at which the box sends requests to the cloud (contract section 15, Pace): a share of the
// quota that the cloud names in RateLimit-Limit, 60 a minute where it names none, and nothing
// before the end of a Retry-After. Requests may come in short bursts, so that a new order is sent
// at once. Pure: the caller supplies the monotonic time. One thread.

#include <cstdint>
#include <string_view>

#include "base/time/clock.h"
#include "net/call.h"

namespace comanda::outbox {

inline constexpr int64_t kUnknownQuotaPerMinute = 60;
// The pace that may be used at once after a rest, in ms of it.
inline constexpr int64_t kBurstMs = 15'000;
// A Retry-After is followed up to this.
inline constexpr int64_t kRetryAfterMsMax = 3'600'000;

class Pace {
 public:
  explicit Pace(int64_t share_percent) : share_percent_(share_percent) {}

  // When the next request may be sent, ms from now; 0: now.
  int64_t DueInMs(int64_t now_ms) const;
  // A request is sent.
  void Count(int64_t now_ms);
  // Reads RateLimit-Limit and, of a 429 or 503, Retry-After. `wall` is for one that is a date.
  void Learn(const net::Answer& answer, int64_t now_ms, UtcMs wall);

  // Requests a minute, the share applied.
  int64_t PerMinute() const;

 private:
  const int64_t share_percent_;
  int64_t limit_per_minute_ = 0;  // as the cloud names it; 0: it has named none
  // Generic cell rate algorithm: the time at which the requests sent so far are used up at an even
  // pace.
  int64_t used_until_ms_ = 0;
  int64_t not_before_ms_ = 0;
};

}  // namespace comanda::outbox
