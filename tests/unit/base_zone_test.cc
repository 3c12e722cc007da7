#include "base/zone.h"

#include <gtest/gtest.h>

namespace comanda {
namespace {

Zone Get(std::string_view name) {
  const std::optional<Zone> zone = Zone::Find(name);
  EXPECT_TRUE(zone.has_value()) << name << ": is the system's zone data installed?";
  return zone.value();
}

std::string Instant(const Zone& zone, Day day, int hour, int minute = 0) {
  return FormatInstant(zone.ToInstant(day, hour * 60 + minute));
}

std::string Wall(const Zone& zone, std::string_view instant) {
  const LocalTime time = zone.ToLocal(ParseInstant(instant).value());
  return FormatDay(time.day) + " " + std::to_string(time.minute_of_day / 60) + ":" +
         std::to_string(time.minute_of_day % 60) + " " + std::to_string(time.weekday);
}

TEST(Zone, ConvertsInAZoneWithoutDaylightSaving) {
  const Zone lima = Get("America/Lima");

  EXPECT_EQ(lima.name(), "America/Lima");
  EXPECT_EQ(Wall(lima, "2026-11-20T18:03:11.999Z"), "2026-11-20 13:3 4");
  EXPECT_EQ(Wall(lima, "2026-11-23T04:59:59.999Z"), "2026-11-22 23:59 6");
  EXPECT_EQ(Wall(lima, "2026-11-23T05:00:00.000Z"), "2026-11-23 0:0 0");
  EXPECT_EQ(Instant(lima, {2026, 11, 20}, 0), "2026-11-20T05:00:00.000Z");
}

TEST(Zone, MadridSkipsAnHourInSpring) {
  const Zone madrid = Get("Europe/Madrid");  // 2026-03-29 02:00 becomes 03:00

  EXPECT_EQ(Instant(madrid, {2026, 3, 29}, 1, 59), "2026-03-29T00:59:00.000Z");
  EXPECT_EQ(Instant(madrid, {2026, 3, 29}, 2), "2026-03-29T01:00:00.000Z");
  EXPECT_EQ(Instant(madrid, {2026, 3, 29}, 2, 30), "2026-03-29T01:00:00.000Z");
  EXPECT_EQ(Instant(madrid, {2026, 3, 29}, 3), "2026-03-29T01:00:00.000Z");
  EXPECT_EQ(Wall(madrid, "2026-03-29T00:59:59Z"), "2026-03-29 1:59 6");
  EXPECT_EQ(Wall(madrid, "2026-03-29T01:00:00Z"), "2026-03-29 3:0 6");
}

TEST(Zone, MadridRepeatsAnHourInAutumn) {
  const Zone madrid = Get("Europe/Madrid");  // 2026-10-25 03:00 becomes 02:00

  EXPECT_EQ(Instant(madrid, {2026, 10, 25}, 2, 30), "2026-10-25T00:30:00.000Z");
  EXPECT_EQ(Instant(madrid, {2026, 10, 25}, 3), "2026-10-25T02:00:00.000Z");
  EXPECT_EQ(Wall(madrid, "2026-10-25T00:30:00Z"), Wall(madrid, "2026-10-25T01:30:00Z"));
}

TEST(Zone, SantiagoSkipsMidnightItself) {
  const Zone santiago = Get("America/Santiago");  // 2025-09-07 00:00 becomes 01:00

  EXPECT_EQ(Instant(santiago, {2025, 9, 6}, 23, 59), "2025-09-07T03:59:00.000Z");
  EXPECT_EQ(Instant(santiago, {2025, 9, 7}, 0), "2025-09-07T04:00:00.000Z");
  EXPECT_EQ(Instant(santiago, {2025, 9, 7}, 1), "2025-09-07T04:00:00.000Z");
  EXPECT_EQ(Wall(santiago, "2025-09-07T04:00:00Z"), "2025-09-07 1:0 6");
}

TEST(Zone, SantiagoRepeatsTheHourBeforeMidnight) {
  const Zone santiago = Get("America/Santiago");  // 2025-04-06 00:00 becomes 2025-04-05 23:00

  EXPECT_EQ(Instant(santiago, {2025, 4, 5}, 23), "2025-04-06T02:00:00.000Z");
  EXPECT_EQ(Instant(santiago, {2025, 4, 6}, 0), "2025-04-06T04:00:00.000Z");
  EXPECT_EQ(Wall(santiago, "2025-04-06T03:30:00Z"), "2025-04-05 23:30 5");
}

TEST(Zone, FollowsTheRulesBeyondTheRecordedTransitions) {
  const Zone madrid = Get("Europe/Madrid");

  EXPECT_EQ(Instant(madrid, {2060, 7, 1}, 12), "2060-07-01T10:00:00.000Z");
  EXPECT_EQ(Instant(madrid, {2060, 1, 1}, 12), "2060-01-01T11:00:00.000Z");
}

TEST(Zone, IsNothingWhereThereIsNoData) {
  for (const char* name :
       {"", "America/Atlantis", "america/lima", "America", "PE", "/etc/localtime", "localtime",
        "../../../etc/localtime", "America/../America/Lima", "Fixed/UTC+05:00:00", "UTC0",
        "file:America/Lima", "America/Lima ", "zone.tab", "tzdata.zi", "America//Lima",
        "America/Lima/"}) {
    EXPECT_FALSE(Zone::Find(name).has_value()) << name;
  }
  EXPECT_FALSE(Zone::Find(std::string(100'000, 'A')).has_value());
}

TEST(Zone, KnowsUtc) { EXPECT_EQ(Wall(Get("UTC"), "2026-11-20T18:03:00Z"), "2026-11-20 18:3 4"); }

}  // namespace
}  // namespace comanda
