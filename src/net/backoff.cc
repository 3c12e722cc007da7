#include "net/backoff.h"

#include <curl/curl.h>

#include <algorithm>
#include <string>

#include "base/check.h"
#include "base/text.h"

namespace comanda::net {
namespace {

// Uniform in [0, limit], by the high half of the product. The bias is below limit / 2^64.
int64_t Scaled(uint64_t random, int64_t limit) {
  const auto range = static_cast<unsigned __int128>(limit) + 1;
  return static_cast<int64_t>((range * random) >> 64);
}

}  // namespace

int64_t WaitWithFullJitter(const Growth& growth, int failures, uint64_t random) {
  CHECK(failures >= 1, "a wait follows a failure");
  int64_t limit = std::min(growth.first_ms, growth.max_ms);
  for (int i = 1; i < failures && limit < growth.max_ms; ++i) {
    limit = limit > growth.max_ms / 2 ? growth.max_ms : limit * 2;
  }
  return Scaled(random, limit);
}

int64_t WaitOfSchedule(std::span<const int64_t> waits_ms, int failures, uint64_t random) {
  CHECK(failures >= 1 && !waits_ms.empty(), "a wait follows a failure");
  const size_t row = std::min(static_cast<size_t>(failures), waits_ms.size()) - 1;
  const int64_t wait = waits_ms[row];
  const int64_t tenth = wait / 10;
  return wait - tenth + Scaled(random, 2 * tenth);
}

std::optional<int64_t> ReadRetryAfter(std::string_view value, UtcMs now, int64_t max_ms) {
  value = Trimmed(value);
  if (value.empty()) return std::nullopt;
  if (std::ranges::all_of(value, IsDigit)) {
    int64_t wait_ms = 0;
    for (const char digit : value) {
      wait_ms = std::min(wait_ms * 10 + (digit - '0') * 1000, max_ms);
    }
    return wait_ms;
  }
  // curl_getdate() parses the three forms of HTTP dates, but takes bare numbers for dates too.
  if (!(value.front() >= 'A' && value.front() <= 'Z')) return std::nullopt;
  const time_t seconds = curl_getdate(std::string(value).c_str(), nullptr);
  if (seconds < 0) return std::nullopt;
  return std::clamp<int64_t>(int64_t{seconds} * 1000 - now, 0, max_ms);
}

}  // namespace comanda::net
