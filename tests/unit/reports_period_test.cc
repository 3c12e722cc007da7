#include "reports/period.h"

#include <gtest/gtest.h>

#include <string_view>

namespace comanda::reports {
namespace {

UtcMs At(std::string_view text) { return ParseInstant(text).value(); }
Days In(std::string_view name, int starts_at = 0) { return {*Zone::Find(name), starts_at}; }

// As a query with these days asks for it.
Period Of(std::string_view first, std::string_view last, const Days& days) {
  const Day from = *ParseDay(first), to = *ParseDay(last);
  return {.span = {days.BeginOf(from), days.EndOf(to)}, .first_day = from, .last_day = to};
}

const Days kLima = In("America/Lima");
const Days kLimaFromFive = In("America/Lima", 5 * 60);
const Period kNovember20 = Of("2026-11-20", "2026-11-20", kLima);

TEST(ReportsPeriod, TheWholeDayIsNotCut) {
  EXPECT_EQ(Cut(kNovember20, std::nullopt, kLima), std::vector{kNovember20.span});
}

TEST(ReportsPeriod, AWindowIsCutOutOfEachDay) {
  const std::vector<Interval> expected = {
      {At("2026-11-20T17:00:00Z"), At("2026-11-20T20:00:00Z")},
      {At("2026-11-21T17:00:00Z"), At("2026-11-21T20:00:00Z")},
  };
  EXPECT_EQ(Cut(Of("2026-11-20", "2026-11-21", kLima), Window{12 * 60, 15 * 60}, kLima), expected);
}

TEST(ReportsPeriod, AWindowThatWrapsMidnightBelongsToTheDayOnWhichItBegins) {
  const std::vector<Interval> expected = {{At("2026-11-21T03:00:00Z"), At("2026-11-21T07:00:00Z")}};
  EXPECT_EQ(Cut(kNovember20, Window{22 * 60, 2 * 60}, kLima), expected);
}

TEST(ReportsPeriod, AnInstantCutsAWindowThatADayDoesNot) {
  // From midnight of the 20th to midnight of the 21st, as instants: two halves of two nights.
  const Period instants{.span = kNovember20.span, .first_day = {}, .last_day = {}};
  const std::vector<Interval> expected = {
      {At("2026-11-20T05:00:00Z"), At("2026-11-20T07:00:00Z")},
      {At("2026-11-21T03:00:00Z"), At("2026-11-21T05:00:00Z")},
  };
  EXPECT_EQ(Cut(instants, Window{22 * 60, 2 * 60}, kLima), expected);
}

TEST(ReportsPeriod, AWindowAfterMidnightBelongsToTheBusinessDayBefore) {
  const Period night = Of("2026-11-20", "2026-11-20", kLimaFromFive);
  EXPECT_EQ(Cut(night, Window{0, 2 * 60}, kLimaFromFive),
            (std::vector<Interval>{{At("2026-11-21T05:00:00Z"), At("2026-11-21T07:00:00Z")}}));
  EXPECT_EQ(Cut(night, Window{23 * 60, 24 * 60}, kLimaFromFive),
            (std::vector<Interval>{{At("2026-11-21T04:00:00Z"), At("2026-11-21T05:00:00Z")}}));
  EXPECT_EQ(Cut(night, Window{5 * 60, 6 * 60}, kLimaFromFive),
            (std::vector<Interval>{{At("2026-11-20T10:00:00Z"), At("2026-11-20T11:00:00Z")}}));
}

TEST(ReportsPeriod, AWindowFollowsTheWallClockThroughDaylightSaving) {
  // Madrid leaves summer time on 2026-10-25: 12:00 is 10:00Z before and 11:00Z after.
  const Days madrid = In("Europe/Madrid");
  const std::vector<Interval> expected = {
      {At("2026-10-24T10:00:00Z"), At("2026-10-24T11:00:00Z")},
      {At("2026-10-25T11:00:00Z"), At("2026-10-25T12:00:00Z")},
  };
  EXPECT_EQ(Cut(Of("2026-10-24", "2026-10-25", madrid), Window{12 * 60, 13 * 60}, madrid),
            expected);
}

TEST(ReportsPeriod, AnHourThatIsRepeatedIsOneWindowAndOneThatIsSkippedNone) {
  // Santiago shows 23:00 to 24:00 twice on 2026-04-04, and no 00:00 to 01:00 on 2026-09-06.
  const Days santiago = In("America/Santiago", 5 * 60);
  EXPECT_EQ(Cut(Of("2026-04-04", "2026-04-04", santiago), Window{23 * 60, 24 * 60}, santiago),
            (std::vector<Interval>{{At("2026-04-05T02:00:00Z"), At("2026-04-05T04:00:00Z")}}));
  EXPECT_TRUE(Cut(Of("2026-09-05", "2026-09-05", santiago), Window{0, 60}, santiago).empty());
}

TEST(ReportsPeriod, ADayThatBeginsInARepeatedHourBeginsOnce) {
  // Lord Howe shows 01:30 to 02:00 twice on 2026-04-05.
  const Days howe = In("Australia/Lord_Howe", 105);
  const Day day{2026, 4, 5};
  EXPECT_EQ(howe.Of(howe.BeginOf(day) - 1), PreviousDay(day));
  for (UtcMs at = howe.BeginOf(day); at < howe.EndOf(day); at += 5 * 60'000) {
    ASSERT_EQ(howe.Of(at), day) << FormatInstant(at);
  }
  EXPECT_EQ(howe.Of(howe.EndOf(day)), NextDay(day));
}

TEST(ReportsPeriod, AnEmptyPeriodHasNoParts) {
  EXPECT_TRUE(Cut({.span = {5, 5}, .first_day = {}, .last_day = {}}, std::nullopt, kLima).empty());
}

TEST(ReportsPeriod, CountsTheDaysThatAPeriodTouches) {
  const Interval span = kNovember20.span;
  EXPECT_EQ(DaysTouched(span, kLima), 1);
  EXPECT_EQ(DaysTouched({span.from, span.to + 1}, kLima), 2);
  EXPECT_EQ(DaysTouched(span, kLimaFromFive), 2);
  EXPECT_EQ(DaysTouched({0, At("2026-11-21T05:00:00Z")}, kLima), kDaysMax + 1);
}

}  // namespace
}  // namespace comanda::reports
