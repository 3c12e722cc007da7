#include "base/time/clock.h"

#include <gtest/gtest.h>

namespace comanda {
namespace {

constexpr UtcMs kInstant = 1'795'197'791'204;  // 2026-11-20T18:03:11.204Z

TEST(Clock, ShowsInstantsInUtcWithMilliseconds) {
  EXPECT_EQ(FormatInstant(kInstant), "2026-11-20T18:03:11.204Z");
  EXPECT_EQ(FormatInstant(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(FormatInstant(-1), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(FormatInstant(1'709'164'800'000), "2024-02-29T00:00:00.000Z");
}

TEST(Clock, ReadsAnyOffset) {
  EXPECT_EQ(ParseInstant("2026-11-20T18:03:11.204Z"), kInstant);
  EXPECT_EQ(ParseInstant("2026-11-20t18:03:11.204z"), kInstant);
  EXPECT_EQ(ParseInstant("2026-11-20T13:03:11.204-05:00"), kInstant);
  EXPECT_EQ(ParseInstant("2026-11-21T03:48:11.204+09:45"), kInstant);
  EXPECT_EQ(ParseInstant("2026-11-20T18:03:11.204-00:00"), kInstant);
}

TEST(Clock, CutsFractionsToMilliseconds) {
  EXPECT_EQ(ParseInstant("2026-11-20T18:03:11.2049999Z"), kInstant);
  EXPECT_EQ(ParseInstant("2026-11-20T18:03:11.2Z"), kInstant - 4);
  EXPECT_EQ(ParseInstant("2026-11-20T18:03:11Z"), kInstant - 204);
}

TEST(Clock, CountsALeapSecondAsTheSecondAfterIt) {
  EXPECT_EQ(ParseInstant("2016-12-31T23:59:60Z"), ParseInstant("2017-01-01T00:00:00Z"));
  EXPECT_EQ(ParseInstant("2016-12-31T18:59:60-05:00"), ParseInstant("2017-01-01T00:00:00Z"));
  EXPECT_EQ(ParseInstant("2016-12-31T23:58:60Z"), std::nullopt);
}

TEST(Clock, RefusesMalformedInstants) {
  for (const char* text : {"",
                           "2026-11-20",
                           "2026-11-20 18:03:11Z",
                           "2026-11-20T18:03Z",
                           "2026-11-20T18:03:11",
                           "2026-11-20T18:03:11.Z",
                           "2026-11-20T18:03:11,2Z",
                           "2026-11-20T18:03:11+0500",
                           "2026-11-20T18:03:11+05",
                           "2026-11-20T18:03:11Zx",
                           "2026-11-20T18:03:11+24:00",
                           "2026-11-20T18:03:11+05:60",
                           "2026-11-20T24:00:00Z",
                           "2026-11-20T18:60:00Z",
                           "2026-11-20T18:03:61Z",
                           "2026-13-01T00:00:00Z",
                           "2026-00-01T00:00:00Z",
                           "2026-04-31T00:00:00Z",
                           "2025-02-29T00:00:00Z",
                           "2026-1-20T18:03:11Z",
                           "+2026-11-20T18:03:11Z",
                           "1795197791204"}) {
    EXPECT_EQ(ParseInstant(text), std::nullopt) << text;
  }
}

TEST(Clock, KeepsToTheYears1970To9999) {
  EXPECT_EQ(ParseInstant("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(ParseInstant("1969-12-31T23:59:59.999Z"), std::nullopt);
  EXPECT_EQ(ParseInstant("1970-01-01T00:00:00+01:00"), std::nullopt);
  EXPECT_EQ(ParseInstant("9999-12-31T23:59:59.999Z"), 253'402'300'799'999);
  EXPECT_EQ(ParseInstant("9999-12-31T23:59:59-01:00"), std::nullopt);
}

TEST(Clock, ReadsRealDaysOnly) {
  EXPECT_EQ(ParseDay("2024-02-29"), (Day{2024, 2, 29}));
  EXPECT_EQ(ParseDay("2000-02-29"), (Day{2000, 2, 29}));
  for (const char* text : {"2023-02-29", "2100-02-29", "2026-04-31", "2026-00-10", "2026-10-00",
                           "2026-1-1", "2026-11-20T00:00:00Z", "20261120", "0000-01-01", ""}) {
    EXPECT_EQ(ParseDay(text), std::nullopt) << text;
  }
}

TEST(Clock, StepsOverMonthsAndLeapDays) {
  EXPECT_EQ(FormatDay(NextDay({2024, 2, 28})), "2024-02-29");
  EXPECT_EQ(FormatDay(NextDay({2023, 2, 28})), "2023-03-01");
  EXPECT_EQ(FormatDay(NextDay({2026, 12, 31})), "2027-01-01");
  EXPECT_EQ(FormatDay(PreviousDay({2024, 3, 1})), "2024-02-29");
  EXPECT_EQ(FormatDay(PreviousDay({2026, 1, 1})), "2025-12-31");
  EXPECT_EQ(FormatDay(PreviousDay({1970, 1, 1})), "1969-12-31");
}

TEST(Clock, TheMachinesMonotonicTimeNeverGoesBack) {
  const Clock& clock = SystemClock();
  const int64_t before = clock.MonotonicMs();
  EXPECT_GE(clock.MonotonicMs(), before);
  EXPECT_GT(clock.Now(), 1'577'836'800'000);  // 2020
}

}  // namespace
}  // namespace comanda
