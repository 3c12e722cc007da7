#include "company/hours.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/problem.h"
#include "base/time/zone.h"
#include "company/json.h"
#include "json/reader.h"

namespace comanda::company {
namespace {

constexpr std::string_view kCaleta = R"({
  "tuesday": {"is_active": true,
              "hours": [{"open": "12:00", "close": "16:30"}, {"open": "19:00", "close": "23:00"}]},
  "friday": {"is_active": true, "hours": [{"open": "19:00", "close": "01:30"}]},
  "sunday": {"hours": [{"open": "22:00", "close": "02:00"}]}
})";

Hours Read(std::string_view text) {
  const json::Document document = json::Document::Parse(text);
  json::Errors errors;
  json::ObjectReader week(document.root(), "business_hours", errors, json::UnknownFields::kRefused);
  const Hours hours = ReadHours(week);
  errors.ThrowIfAny();
  return hours;
}

FieldError ErrorOf(std::string_view text) {
  try {
    Read(text);
  } catch (const Refusal& refusal) {
    if (!refusal.errors.empty()) return refusal.errors.front();
  }
  return {"nothing was refused", FieldCode::kEmpty, ""};
}

bool Open(const Hours& hours, std::string_view zone, std::string_view instant) {
  return OpenAt(hours, *Zone::Find(zone), *ParseInstant(instant));
}

// 2026-11-17 is a Tuesday. Lima is five hours behind UTC all year.
bool OpenInLima(const Hours& hours, std::string_view local) {
  return Open(hours, "America/Lima", std::string(local) + "-05:00");
}

TEST(CompanyHours, IncludeTheOpeningMinuteAndExcludeTheClosingOne) {
  const Hours hours = Read(kCaleta);
  EXPECT_FALSE(OpenInLima(hours, "2026-11-17T11:59:59.999"));
  EXPECT_TRUE(OpenInLima(hours, "2026-11-17T12:00:00"));
  EXPECT_TRUE(OpenInLima(hours, "2026-11-17T16:29:59.999"));
  EXPECT_FALSE(OpenInLima(hours, "2026-11-17T16:30:00"));
}

TEST(CompanyHours, CloseBetweenTheBlocksOfADay) {
  const Hours hours = Read(kCaleta);
  EXPECT_FALSE(OpenInLima(hours, "2026-11-17T18:00:00"));
  EXPECT_TRUE(OpenInLima(hours, "2026-11-17T22:59:00"));
  EXPECT_FALSE(OpenInLima(hours, "2026-11-17T23:00:00"));
}

TEST(CompanyHours, LastPastMidnightIntoADayThatIsClosedItself) {
  const Hours hours = Read(kCaleta);
  EXPECT_TRUE(OpenInLima(hours, "2026-11-20T23:59:00"));
  EXPECT_TRUE(OpenInLima(hours, "2026-11-21T01:29:00"));
  EXPECT_FALSE(OpenInLima(hours, "2026-11-21T01:30:00"));
  EXPECT_FALSE(OpenInLima(hours, "2026-11-20T01:00:00"));  // Thursday night was closed
}

TEST(CompanyHours, LastFromSundayNightIntoMonday) {
  const Hours hours = Read(kCaleta);
  EXPECT_TRUE(OpenInLima(hours, "2026-11-23T01:59:00"));
  EXPECT_FALSE(OpenInLima(hours, "2026-11-23T02:00:00"));
  EXPECT_FALSE(OpenInLima(hours, "2026-11-22T01:59:00"));
}

TEST(CompanyHours, FromMidnightToMidnightAreTheWholeDayAndNoMore) {
  const Hours hours = Read(R"({"tuesday": {"hours": [{"open": "00:00", "close": "00:00"}]}})");
  EXPECT_FALSE(OpenInLima(hours, "2026-11-16T23:59:59"));
  EXPECT_TRUE(OpenInLima(hours, "2026-11-17T00:00:00"));
  EXPECT_TRUE(OpenInLima(hours, "2026-11-17T23:59:59"));
  EXPECT_FALSE(OpenInLima(hours, "2026-11-18T00:00:00"));
}

TEST(CompanyHours, WithCloseEqualToOpenLastADay) {
  const Hours hours = Read(R"({"tuesday": {"hours": [{"open": "10:00", "close": "10:00"}]}})");
  EXPECT_FALSE(OpenInLima(hours, "2026-11-17T09:59:00"));
  EXPECT_TRUE(OpenInLima(hours, "2026-11-18T09:59:00"));
  EXPECT_FALSE(OpenInLima(hours, "2026-11-18T10:00:00"));
}

TEST(CompanyHours, OfAnInactiveDayNeverOpen) {
  const Hours hours =
      Read(R"({"tuesday": {"is_active": false, "hours": [{"open": "20:00", "close": "02:00"}]}})");
  EXPECT_FALSE(OpenInLima(hours, "2026-11-17T21:00:00"));
  EXPECT_FALSE(OpenInLima(hours, "2026-11-18T01:00:00"));
}

TEST(CompanyHours, FollowTheWallClockThroughARepeatedHour) {
  // Madrid, 2026-10-25: 03:00 summer time becomes 02:00, so 02:30 comes twice.
  const Hours hours = Read(R"({"sunday": {"hours": [{"open": "02:15", "close": "02:45"}]}})");
  EXPECT_TRUE(Open(hours, "Europe/Madrid", "2026-10-25T00:30:00Z"));
  EXPECT_FALSE(Open(hours, "Europe/Madrid", "2026-10-25T00:50:00Z"));
  EXPECT_TRUE(Open(hours, "Europe/Madrid", "2026-10-25T01:30:00Z"));
}

TEST(CompanyHours, FollowTheWallClockThroughASkippedHour) {
  // Madrid, 2026-03-29: 02:00 becomes 03:00.
  const Hours hours = Read(R"({"saturday": {"hours": [{"open": "22:00", "close": "02:30"}]},
                               "sunday": {"hours": [{"open": "03:00", "close": "04:00"}]}})");
  EXPECT_TRUE(Open(hours, "Europe/Madrid", "2026-03-29T00:59:59Z"));
  EXPECT_TRUE(Open(hours, "Europe/Madrid", "2026-03-29T01:00:00Z"));
  EXPECT_TRUE(Open(hours, "Europe/Madrid", "2026-03-29T01:59:59Z"));
  EXPECT_FALSE(Open(hours, "Europe/Madrid", "2026-03-29T02:00:00Z"));
}

TEST(CompanyHours, MoveWithDaylightSaving) {
  const Hours hours = Read(R"({"wednesday": {"hours": [{"open": "09:00", "close": "10:00"}]}})");
  EXPECT_TRUE(Open(hours, "Europe/Madrid", "2026-01-14T08:30:00Z"));
  EXPECT_FALSE(Open(hours, "Europe/Madrid", "2026-01-14T07:30:00Z"));
  EXPECT_TRUE(Open(hours, "Europe/Madrid", "2026-07-15T07:30:00Z"));
  EXPECT_FALSE(Open(hours, "Europe/Madrid", "2026-07-15T08:30:00Z"));
}

TEST(CompanyHours, AreStoredWithAllSevenDaysAndReadBack) {
  const Hours hours = Read(kCaleta);
  const std::string text = HoursText(hours);
  EXPECT_EQ(text.substr(0, 61), R"({"monday":{"is_active":false,"hours":[]},"tuesday":{"is_activ)");
  EXPECT_NE(text.find(R"("friday":{"is_active":true,"hours":[{"open":"19:00","close":"01:30"}]})"),
            std::string::npos);
  EXPECT_EQ(ParseHours(text), hours);
}

TEST(CompanyHours, RefuseATimeThatIsNone) {
  for (const std::string_view time : {"24:00", "9:00", "09:60", "0900", "09:00:00", "ab:cd"}) {
    const FieldError error = ErrorOf(R"({"monday": {"hours": [{"open": ")" + std::string(time) +
                                     R"(", "close": "10:00"}]}})");
    EXPECT_EQ(error.field, "business_hours.monday.hours[0].open") << time;
    EXPECT_EQ(error.code, FieldCode::kInvalidFormat) << time;
  }
}

TEST(CompanyHours, RefuseABlockWithoutItsClose) {
  const FieldError error = ErrorOf(R"({"monday": {"hours": [{"open": "09:00"}]}})");
  EXPECT_EQ(error.field, "business_hours.monday.hours[0].close");
  EXPECT_EQ(error.code, FieldCode::kRequired);
}

TEST(CompanyHours, RefuseAnActiveDayWithoutABlock) {
  const FieldError error = ErrorOf(R"({"monday": {"is_active": true, "hours": []}})");
  EXPECT_EQ(error.field, "business_hours.monday.hours");
  EXPECT_EQ(error.code, FieldCode::kEmpty);
}

TEST(CompanyHours, RefuseAnUnknownWeekdayWithTheNearest) {
  const FieldError error = ErrorOf(R"({"moonday": {"is_active": false}})");
  EXPECT_EQ(error.field, "business_hours.moonday");
  EXPECT_EQ(error.code, FieldCode::kUnknownField);
  EXPECT_NE(error.message.find("monday"), std::string::npos);
}

}  // namespace
}  // namespace comanda::company
