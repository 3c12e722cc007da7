#include "outbox/pace.h"

#include <gtest/gtest.h>

namespace comanda::outbox {
namespace {

net::Answer Answered(int status, std::vector<std::pair<std::string, std::string>> headers) {
  return {.status = status, .headers = std::move(headers)};
}

// How many requests it lets through in that time.
int64_t SentIn(Pace& pace, int64_t begin_ms, int64_t duration_ms) {
  int64_t sent = 0;
  for (int64_t now = begin_ms; now < begin_ms + duration_ms;) {
    const int64_t wait = pace.DueInMs(now);
    if (wait > 0) {
      now += wait;
      continue;
    }
    pace.Count(now);
    ++sent;
  }
  return sent;
}

TEST(OutboxPace, IsSixtyAMinuteWithoutAQuota) {
  Pace pace(70);
  EXPECT_EQ(pace.PerMinute(), 60);
  SentIn(pace, 0, 60'000);  // uses up the burst
  EXPECT_NEAR(static_cast<double>(SentIn(pace, 60'000, 600'000)), 600, 2);
}

TEST(OutboxPace, IsAShareOfTheQuota) {
  Pace pace(70);
  pace.Learn(Answered(200, {{"RateLimit-Limit", "100, 100;w=60"}}), 0, 0);
  EXPECT_EQ(pace.PerMinute(), 70);
  SentIn(pace, 0, 60'000);
  EXPECT_NEAR(static_cast<double>(SentIn(pace, 60'000, 600'000)), 700, 2);
  for (const char* nonsense : {"", "many", "-3", "0"}) {
    pace.Learn(Answered(200, {{"RateLimit-Limit", nonsense}}), 0, 0);
    EXPECT_EQ(pace.PerMinute(), 70) << nonsense;
  }
  Pace small(1);
  small.Learn(Answered(200, {{"RateLimit-Limit", "10"}}), 0, 0);
  EXPECT_EQ(small.PerMinute(), 1);
}

TEST(OutboxPace, FollowsAnAbsurdQuotaUpToARequestEachMillisecond) {
  for (const char* large : {"60000", "60001", "9223372036854775807", "99999999999999999999999"}) {
    Pace pace(100);
    pace.Learn(Answered(200, {{"RateLimit-Limit", large}}), 0, 0);
    EXPECT_EQ(pace.PerMinute(), 60'000) << large;
    SentIn(pace, 0, 60'000);
    EXPECT_NEAR(static_cast<double>(SentIn(pace, 60'000, 60'000)), 60'000, 2) << large;
  }
  Pace pace(70);
  pace.Learn(Answered(200, {{"RateLimit-Limit", "-99999999999999999999999"}}), 0, 0);
  EXPECT_EQ(pace.PerMinute(), kUnknownQuotaPerMinute);
}

TEST(OutboxPace, LetsANewOrderPassAtOnceAfterARest) {
  Pace pace(70);
  EXPECT_EQ(pace.DueInMs(0), 0);
  const int64_t burst = SentIn(pace, 0, 1);
  EXPECT_GE(burst, 10);
  EXPECT_LE(burst, 16);
}

TEST(OutboxPace, WaitsForARetryAfterToTheSecond) {
  Pace pace(70);
  pace.Learn(Answered(429, {{"Retry-After", "37"}}), 1'000, 0);
  EXPECT_EQ(pace.DueInMs(1'000), 37'000);
  EXPECT_EQ(pace.DueInMs(37'999), 1);
  EXPECT_EQ(pace.DueInMs(38'000), 0);
  pace.Learn(Answered(503, {{"Retry-After", "100000"}}), 0, 0);
  EXPECT_EQ(pace.DueInMs(0), kRetryAfterMsMax);
  Pace other(70);
  other.Learn(Answered(200, {{"Retry-After", "37"}}), 0, 0);
  EXPECT_EQ(other.DueInMs(0), 0);
}

}  // namespace
}  // namespace comanda::outbox
