#include "cloud/readings.h"

#include <gtest/gtest.h>

namespace comanda::cloud {
namespace {

constexpr UtcMs kNow = 1'800'000'000'000;

const Reading& MethodsReading() { return kReadings[1]; }

Link ReadAt(UtcMs at) {
  Link link;
  link.features.has_tables = true;
  for (const Reading& reading : kReadings) {
    link.progress.emplace(reading.part, Visit{.at = at, .etags = {}});
  }
  return link;
}

TEST(CloudReadings, AreDueOncePerPeriod) {
  const Link link = ReadAt(kNow);
  EXPECT_EQ(DueInMs(MethodsReading(), {}, kNow), 0);
  EXPECT_EQ(DueInMs(MethodsReading(), link.progress, kNow), 3'600'000);
  EXPECT_EQ(DueInMs(MethodsReading(), link.progress, kNow + 3'600'000), 0);
  EXPECT_EQ(DueInMs(MethodsReading(), link.progress, kNow - 1), 0) << "the clock was put back";
}

TEST(CloudReadings, ThatFailedAreDueAgainSoon) {
  Link link = ReadAt(kNow);
  Visit& visit = link.progress.at(std::string(kPaymentMethodsPart));
  visit.etags = {{"/v1/x", "e"}};
  std::vector<int64_t> waits;
  for (int i = 0; i < 9; ++i) {
    NoteReading(visit, "status 502", kNow + i);
    waits.push_back(DueInMs(MethodsReading(), link.progress, kNow + i));
  }
  EXPECT_EQ(waits, (std::vector<int64_t>{5'000, 10'000, 20'000, 40'000, 80'000, 160'000, 300'000,
                                         300'000, 300'000}));
  EXPECT_EQ(visit.failed_since, kNow);
  EXPECT_EQ(visit.at, kNow) << "the last one that was whole";
  NoteReading(visit, "", kNow + 100);
  EXPECT_EQ(visit, (Visit{.at = kNow + 100, .etags = {{"/v1/x", "e"}}}));
}

TEST(CloudReadings, AreToldWhereTheyFailedNeverTookPlaceOrAreOverdue) {
  EXPECT_TRUE(FindUnread(ReadAt(kNow), kNow).empty());
  EXPECT_TRUE(FindUnread(ReadAt(kNow - 600'000), kNow).empty());

  Link link = ReadAt(kNow - 600'001);  // two periods of the menu
  NoteReading(link.progress.at(std::string(kUsersPart)), "status 502", kNow);
  link.progress.erase(std::string(kClientsPart));
  NoteReading(link.progress[std::string(kOrdersPart)], "status 400", kNow);
  std::vector<std::string> told;
  for (const Unread& unread : FindUnread(link, kNow)) told.push_back(Describe(unread));
  EXPECT_EQ(told, (std::vector<std::string>{
                      "the menu of the cloud: not read since 2027-01-15T07:49:59.999Z",
                      "the users of the cloud cannot be read since 2027-01-15T08:00:00.000Z: "
                      "status 502",
                      "the clients of the cloud: not read yet",
                      "the orders of the cloud cannot be read since 2027-01-15T08:00:00.000Z: "
                      "status 400"}));
  EXPECT_TRUE(FindUnread(link, kNow).front().is_for_selling);

  link = ReadAt(kNow);
  link.progress[std::string(kOrdersPart)].at = kNow - 600'001;
  EXPECT_EQ(Describe(FindUnread(link, kNow).back()),
            "the orders of the cloud: not read since 2027-01-15T07:49:59.999Z");
  link.features.has_events = true;
  link.cursor = "7";
  EXPECT_TRUE(FindUnread(link, kNow).empty()) << "its events are followed";

  link = ReadAt(kNow);
  link.progress.erase(std::string(kTablesPart));
  EXPECT_EQ(FindUnread(link, kNow).size(), 1U);
  link.features.has_tables = false;
  EXPECT_TRUE(FindUnread(link, kNow).empty()) << "a cloud without tables";
}

TEST(CloudReadings, SayThatTheCloudMayHaveGoneBackUntilAllOrdersAreCompared) {
  Link link = ReadAt(kNow);
  EXPECT_FALSE(GoneBackSince(link));
  NoteMayHaveGoneBack(link.progress, 412, kNow);
  EXPECT_EQ(GoneBackSince(link), kNow);
  ASSERT_FALSE(FindUnread(link, kNow).empty());
  EXPECT_EQ(Describe(FindUnread(link, kNow).front()),
            "the cloud may have gone back to an earlier time, noticed 2027-01-15T08:00:00.000Z: "
            "412 orders are compared");
  link.progress[std::string(kSentOrdersPart)] = {.at = kNow};
  EXPECT_FALSE(GoneBackSince(link));
  EXPECT_EQ(FindUnread(link, kNow).size(), 1U) << "the menu";
  EXPECT_TRUE(IsMenuToCompare(link.progress));
  link.progress[std::string(kSentMenuPart)] = {.at = kNow};
  EXPECT_FALSE(IsMenuToCompare(link.progress));
}

}  // namespace
}  // namespace comanda::cloud
