#include "reports/period.h"

#include <gtest/gtest.h>

#include <string_view>

namespace comanda::reports {
namespace {

UtcMs At(std::string_view text) { return ParseInstant(text).value(); }
Zone In(std::string_view name) { return Zone::Find(name).value(); }

const Interval kNovember20{At("2026-11-20T05:00:00Z"),
                           At("2026-11-21T05:00:00Z")};  // a day of Lima

TEST(ReportsPeriod, TheWholeDayIsNotCut) {
  EXPECT_EQ(Cut(kNovember20, kWholeDay, In("America/Lima")), std::vector{kNovember20});
}

TEST(ReportsPeriod, AWindowIsCutOutOfEachDay) {
  const Interval two_days{kNovember20.from, At("2026-11-22T05:00:00Z")};
  const std::vector<Interval> expected = {
      {At("2026-11-20T17:00:00Z"), At("2026-11-20T20:00:00Z")},
      {At("2026-11-21T17:00:00Z"), At("2026-11-21T20:00:00Z")},
  };
  EXPECT_EQ(Cut(two_days, {.start = 12 * 60, .end = 15 * 60}, In("America/Lima")), expected);
}

TEST(ReportsPeriod, AWindowThatWrapsMidnightEndsOnTheNextDay) {
  // 22:00 to 02:00: the end of the night before, and the beginning of this one.
  const std::vector<Interval> expected = {
      {At("2026-11-20T05:00:00Z"), At("2026-11-20T07:00:00Z")},
      {At("2026-11-21T03:00:00Z"), At("2026-11-21T05:00:00Z")},
  };
  EXPECT_EQ(Cut(kNovember20, {.start = 22 * 60, .end = 2 * 60}, In("America/Lima")), expected);
}

TEST(ReportsPeriod, AWindowFollowsTheWallClockThroughDaylightSaving) {
  // Madrid leaves summer time on 2026-10-25: 12:00 is 10:00Z before and 11:00Z after.
  const Interval period{At("2026-10-23T22:00:00Z"), At("2026-10-25T23:00:00Z")};
  const std::vector<Interval> expected = {
      {At("2026-10-24T10:00:00Z"), At("2026-10-24T11:00:00Z")},
      {At("2026-10-25T11:00:00Z"), At("2026-10-25T12:00:00Z")},
  };
  EXPECT_EQ(Cut(period, {.start = 12 * 60, .end = 13 * 60}, In("Europe/Madrid")), expected);
}

TEST(ReportsPeriod, AnEmptyPeriodHasNoParts) {
  EXPECT_TRUE(Cut({5, 5}, kWholeDay, In("UTC")).empty());
}

TEST(ReportsPeriod, CountsTheDaysThatAPeriodTouches) {
  EXPECT_EQ(DaysTouched(kNovember20, In("America/Lima")), 1);
  EXPECT_EQ(DaysTouched({kNovember20.from, kNovember20.to + 1}, In("America/Lima")), 2);
  EXPECT_EQ(DaysTouched({0, At("2026-11-21T05:00:00Z")}, In("America/Lima")), kDaysMax + 1);
}

}  // namespace
}  // namespace comanda::reports
