#include "net/backoff.h"

#include <array>

#include <gtest/gtest.h>

namespace comanda::net {
namespace {

constexpr uint64_t kLeast = 0;
constexpr uint64_t kMost = UINT64_MAX;
constexpr Growth kGrowth{.first_ms = 1'000, .max_ms = 60'000};

TEST(NetBackoff, DoublesTheLongestWaitUpToTheLimit) {
  constexpr std::array<int64_t, 8> kLongest = {1'000,  2'000,  4'000,  8'000,
                                               16'000, 32'000, 60'000, 60'000};
  for (size_t i = 0; i < kLongest.size(); ++i) {
    EXPECT_EQ(WaitWithFullJitter(kGrowth, static_cast<int>(i) + 1, kMost), kLongest[i]);
    EXPECT_EQ(WaitWithFullJitter(kGrowth, static_cast<int>(i) + 1, kLeast), 0);
  }
  EXPECT_EQ(WaitWithFullJitter(kGrowth, 2, kMost / 2), 1'000);
  EXPECT_EQ(WaitWithFullJitter(kGrowth, 1'000'000, kMost), 60'000);
  EXPECT_EQ(WaitWithFullJitter({.first_ms = 1, .max_ms = INT64_MAX}, 200, kLeast), 0);
}

TEST(NetBackoff, KeepsWithinATenthOfAScheduleAndRepeatsItsEnd) {
  constexpr std::array<int64_t, 3> kWaits = {30'000, 300'000, 1'800'000};
  EXPECT_EQ(WaitOfSchedule(kWaits, 1, kLeast), 27'000);
  EXPECT_EQ(WaitOfSchedule(kWaits, 1, kMost), 33'000);
  EXPECT_EQ(WaitOfSchedule(kWaits, 2, kMost / 2), 300'000);
  EXPECT_EQ(WaitOfSchedule(kWaits, 99, kLeast), 1'620'000);
}

TEST(NetBackoff, ReadsRetryAfterInSecondsAndAsADate) {
  constexpr UtcMs kNow = 784'111'777'000;  // Sun, 06 Nov 1994 08:49:37 GMT
  constexpr int64_t kDayMs = 86'400'000;
  const auto read = [](std::string_view value) { return ReadRetryAfter(value, kNow, kDayMs); };

  EXPECT_EQ(read("120"), 120'000);
  EXPECT_EQ(read(" 0 "), 0);
  EXPECT_EQ(read("99999999999999999999999999"), kDayMs);
  EXPECT_EQ(read("Sun, 06 Nov 1994 08:50:37 GMT"), 60'000);
  EXPECT_EQ(read("Sunday, 06-Nov-94 08:50:37 GMT"), 60'000);
  EXPECT_EQ(read("Sun Nov  6 08:50:37 1994"), 60'000);
  EXPECT_EQ(read("Sun, 06 Nov 1994 08:00:00 GMT"), 0);
  EXPECT_EQ(read("Sun, 06 Nov 2094 08:00:00 GMT"), kDayMs);
  for (const char* wrong : {"", " ", "-1", "1.5", "soon", "12 s", "Sun, 99 Foo", "\x01"}) {
    EXPECT_EQ(read(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace comanda::net
