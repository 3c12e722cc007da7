#include "base/time/zone.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/time/zone_names.h"

namespace comanda {
namespace {

const std::filesystem::path kSystem = "/usr/share/zoneinfo";

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

TEST(Zone, IsAtOneOffsetWhereItIsFixed) {
  const Zone fixed = Zone::Fixed("America/Lima", -5 * 3600);

  EXPECT_EQ(fixed.name(), "America/Lima");
  EXPECT_EQ(Wall(fixed, "2026-11-23T04:59:59.999Z"), "2026-11-22 23:59 6");
  EXPECT_EQ(Instant(fixed, {2026, 7, 1}, 0), "2026-07-01T05:00:00.000Z");
  EXPECT_EQ(fixed.UtcOffsetS(0), -5 * 3600);
  EXPECT_EQ(Zone::Fixed("X", 99 * 3600).UtcOffsetS(0), 0);
}

TEST(Zone, TellsItsOffset) {
  const Zone madrid = Get("Europe/Madrid");
  EXPECT_EQ(madrid.UtcOffsetS(*ParseInstant("2026-01-01T00:00:00Z")), 3600);
  EXPECT_EQ(madrid.UtcOffsetS(*ParseInstant("2026-07-01T00:00:00Z")), 7200);
}

// A directory of zone data of its own.
class ZoneData : public ::testing::Test {
 protected:
  ZoneData() {
    std::string name = "/tmp/comanda-zones-XXXXXX";
    directory_ = ::mkdtemp(name.data());
    ::setenv("TZDIR", directory_.c_str(), 1);
    Give("Etc/UTC");
  }
  ~ZoneData() override {
    ::unsetenv("TZDIR");
    std::filesystem::remove_all(directory_);
  }
  void Give(const std::string& name) { Put(name, kSystem / name); }
  // In one step, as dpkg replaces files.
  void Put(const std::string& name, const std::filesystem::path& from) {
    const std::filesystem::path path = directory_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::filesystem::copy_file(from, path.string() + ".new");
    std::filesystem::rename(path.string() + ".new", path);
  }
  void Write(const std::string& name, const std::string& content) {
    std::filesystem::create_directories((directory_ / name).parent_path());
    std::ofstream(directory_ / name) << content;
  }
  void Take(const std::string& name) { std::filesystem::remove(directory_ / name); }

  std::filesystem::path directory_;
};

// cctz and Zone keep what they have read by name: each test uses names of its own.

TEST_F(ZoneData, OfAnOldNameAreThoseOfTodays) {
  Give("America/Argentina/Buenos_Aires");
  const auto zone = Zone::Find("America/Buenos_Aires");
  ASSERT_TRUE(zone.has_value());
  EXPECT_EQ(zone->name(), "America/Buenos_Aires");
  EXPECT_EQ(zone->UtcOffsetS(0), -3 * 3600);
  EXPECT_EQ(ZoneNameToStore("America/Buenos_Aires"), "America/Argentina/Buenos_Aires");
}

TEST_F(ZoneData, OfAnOldNameAreUsedWhereTodaysHasNone) {
  Put("Asia/Calcutta", kSystem / "Asia/Kolkata");
  EXPECT_TRUE(Zone::Find("Asia/Calcutta").has_value());
  EXPECT_TRUE(Zone::Find("Asia/Kolkata").has_value());
  EXPECT_EQ(ZoneNameToStore("Asia/Calcutta"), "Asia/Calcutta") << "today's name has no data here";
  EXPECT_EQ(ZoneNameToStore("Asia/Kolkata"), "Asia/Kolkata");
}

TEST_F(ZoneData, OfAnOldNameAreThoseOfAnotherOldName) {
  Put("Navajo", kSystem / "America/Denver");
  EXPECT_TRUE(Zone::Find("US/Mountain").has_value());
  EXPECT_EQ(ZoneNameToStore("US/Mountain"), "US/Mountain");
}

TEST_F(ZoneData, ThatWereReadAreKeptWhileTheFileIsGone) {
  Give("Asia/Tokyo");
  ASSERT_TRUE(Zone::Find("Asia/Tokyo")->is_on_disk());
  Take("Asia/Tokyo");
  ASSERT_TRUE(Zone::Find("Asia/Tokyo").has_value());
  EXPECT_FALSE(Zone::Find("Asia/Tokyo")->is_on_disk());
  EXPECT_TRUE(Zone::Find("Japan").has_value());
  Write("Asia/Tokyo", "TZif");
  EXPECT_FALSE(Zone::Find("Asia/Tokyo")->is_on_disk()) << "damaged";
  EXPECT_EQ(Zone::Find("Asia/Tokyo")->UtcOffsetS(0), 9 * 3600);
  Give("Asia/Tokyo");
  EXPECT_TRUE(Zone::Find("Asia/Tokyo")->is_on_disk());
}

TEST_F(ZoneData, ThatAreReplacedAreReadAgain) {
  Put("Test/Replaced", kSystem / "Europe/Madrid");
  EXPECT_EQ(Zone::Find("Test/Replaced")->UtcOffsetS(0), 3600);
  Put("Test/Replaced", kSystem / "America/Lima");
  EXPECT_EQ(Zone::Find("Test/Replaced")->UtcOffsetS(0), -5 * 3600);
  Put("Test/Replaced", kSystem / "Asia/Tokyo");
  EXPECT_EQ(Zone::Find("Test/Replaced")->UtcOffsetS(0), 9 * 3600);
}

TEST_F(ZoneData, ThatAreNoneAreNotTakenForUtc) {
  for (const char* content : {"", "TZif2", "no zone data", "TZif2\0\0\0"}) {
    Write("Test/Damaged", content);
    EXPECT_FALSE(Zone::Find("Test/Damaged").has_value()) << content;
  }
  std::filesystem::create_directory(directory_ / "Test/Directory");
  EXPECT_FALSE(Zone::Find("Test/Directory").has_value());
  Put("Test/Damaged", kSystem / "America/Lima");
  EXPECT_TRUE(Zone::Find("Test/Damaged").has_value()) << "repaired";
}

TEST_F(ZoneData, ThatAreMissingAreSaidWithWhatHelps) {
  EXPECT_EQ(ZoneAdvice("Europe/Oslo"),
            "the data of Europe/Oslo are missing or damaged on this system: "
            "`apt install --reinstall tzdata`");
  EXPECT_EQ(ZoneAdvice("Europe/Olso"),
            "no time zone is known by that name; perhaps Europe/Oslo was meant");
  EXPECT_EQ(ZoneAdvice("Mars/Olympus"), "no time zone is known by that name");
  Take("Etc/UTC");
  EXPECT_EQ(ZoneAdvice("Mars/Olympus"),
            "this system has no data of any time zone: `apt install --reinstall tzdata`");
}

TEST(ZoneNames, LeadFromAnOldNameToTodays) {
  EXPECT_EQ(CanonicalZoneName("US/Eastern"), "America/New_York");
  EXPECT_EQ(CanonicalZoneName("America/New_York"), "America/New_York");
  EXPECT_EQ(CanonicalZoneName("Mars/Olympus"), "Mars/Olympus");
  EXPECT_EQ(OtherZoneNames("Chile/Continental"), std::vector<std::string_view>{"America/Santiago"});
  EXPECT_EQ(OtherZoneNames("America/Santiago"), std::vector<std::string_view>{"Chile/Continental"});
  EXPECT_EQ(OtherZoneNames("America/Lima"), std::vector<std::string_view>{});
  EXPECT_TRUE(IsKnownZoneName("America/Lima") && IsKnownZoneName("Brazil/East"));
  EXPECT_FALSE(IsKnownZoneName("America/Lyma") || IsKnownZoneName(""));
  EXPECT_EQ(NearestZoneName("Buenos Aires"), "America/Argentina/Buenos_Aires");
}

// The links of this machine's tzdata. Editions differ in which of several zones with one clock an
// old name leads to, so what is compared is the clock.
TEST(ZoneNames, KeepTheClockOfEveryLinkOfTheSystem) {
  std::ifstream file(kSystem / "tzdata.zi");
  int links = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, target, name;
    if (!(words >> kind >> target >> name) || kind != "L") continue;
    ++links;
    const std::string todays(CanonicalZoneName(name));
    EXPECT_NE(todays, name) << "scripts/zone_names makes the table anew";
    EXPECT_EQ(CanonicalZoneName(todays), todays);
    const auto canonical = Zone::Find(todays);
    ASSERT_TRUE(canonical.has_value()) << todays;
    EXPECT_TRUE(canonical->is_on_disk()) << todays;
    ASSERT_TRUE(Zone::Find(name).has_value()) << name;
    constexpr UtcMs kDay = 86'400'000;
    const Zone linked = Get(target);
    for (UtcMs at = *ParseInstant("2000-01-01T12:00:00Z");
         at < *ParseInstant("2040-01-01T00:00:00Z"); at += 28 * kDay) {
      ASSERT_EQ(canonical->UtcOffsetS(at), linked.UtcOffsetS(at))
          << name << " " << todays << " " << target << " " << FormatInstant(at);
    }
  }
  EXPECT_GT(links, 100);
}

}  // namespace
}  // namespace comanda
