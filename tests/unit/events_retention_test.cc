#include "events/retention.h"

#include <gtest/gtest.h>

#include <vector>

#include "events/log.h"
#include "support/restaurant_database.h"

namespace comanda::events {
namespace {

using testing::kCompany;

constexpr int64_t kHourMs = 60 * 60 * 1000;
constexpr int64_t kDayMs = 24 * kHourMs;

class EventsRetention : public ::testing::Test {
 protected:
  int64_t AppendOne() {
    return database->Write([](db::Tx& tx, const db::Stamp& stamp) {
      return Append(tx, kCompany, stamp,
                    {.company_uuid = testing::kCompanyId,
                     .type = Type::kOrderCreated,
                     .changes = {},
                     .subject_id = "s1",
                     .subject_version = 1,
                     .body = "{}"})
          .seq;
    });
  }

  // An event every hour, as long as that, and a mark.
  void Pass(int64_t ms) {
    for (int64_t passed = 0; passed < ms; passed += kHourMs) {
      database.clock.Advance(kHourMs);
      marks.MakeIfDue();
      AppendOne();
    }
  }

  void PurgeAll() {
    for (int i = 0; i < 10; ++i) Purge(*database, database.clock, marks, feed, kRecords);
  }

  int64_t Oldest() {
    return database->Read(
        [](db::Snapshot& snapshot) { return ExtentOf(snapshot, kCompany).oldest; });
  }

  // Of the order s1, the event number 3 holds the record, until somebody lets go of it.
  static constexpr RecordKeeper kRecords = {
      .holds_record = [](db::Session&, db::CompanyId, std::string_view id,
                         int64_t seq) { return id == "s1" && seq == 3; },
      .release_record = [](db::Tx&, db::CompanyId, std::string_view,
                           UtcMs closed_before) { return closed_before > 0; }};

  std::vector<int64_t> StoredBefore(int64_t seq) {
    return database->Read([&](db::Snapshot& snapshot) {
      std::vector<int64_t> found;
      static constexpr db::Sql kSelect = "SELECT seq FROM event WHERE seq < $1 ORDER BY seq";
      auto rows = snapshot.Query<kSelect>(seq);
      while (rows.Next()) found.push_back(rows.Int("seq"));
      return found;
    });
  }

  testing::RestaurantDatabase database;
  Marks marks{*database, database.clock, 1};
  Feed feed;
};

// Else the time off after it would be as long as the bit says.
TEST_F(EventsRetention, BelievesNoMarkWhoseTimeDoesNotFitTheOneBefore) {
  Pass(3 * kHourMs);
  const auto believed = [&](int64_t back_ms) {
    database->Write([&](db::Tx& tx, const db::Stamp&) {
      tx.Run(
          "UPDATE mark SET is_synchronised = 1, at = at - $1 WHERE mark = (SELECT max(mark) FROM "
          "mark)",
          back_ms);
    });
    return database->Read([](db::Snapshot& snapshot) { return LastMark(snapshot); });
  };
  EXPECT_TRUE(believed(0)->is_synchronised);
  EXPECT_FALSE(believed(1LL << 30)->is_synchronised);
}

TEST_F(EventsRetention, KeepsAWeekAndForgetsWhatIsOlder) {
  Pass(7 * kDayMs);
  PurgeAll();
  EXPECT_EQ(Oldest(), 1);
  Pass(13 * kDayMs);
  PurgeAll();
  EXPECT_GT(Oldest(), 10 * 24);
  EXPECT_LE(Oldest(), 13 * 24);
}

TEST_F(EventsRetention, KeepsTheRowThatHoldsARecordFor90DaysWithoutShowingIt) {
  Pass(20 * kDayMs);
  PurgeAll();
  const int64_t oldest = Oldest();
  EXPECT_GT(oldest, 10 * 24);
  EXPECT_EQ(StoredBefore(oldest), std::vector<int64_t>{3});
  database->Read([&](db::Snapshot& snapshot) {
    EXPECT_EQ(ReadAfter(snapshot, kCompany, oldest - 1, 1).front().seq, oldest);
    EXPECT_EQ(BodyOf(snapshot, kCompany, 3), "{}");
    return 0;
  });
  Pass(60 * kDayMs);
  PurgeAll();
  EXPECT_EQ(StoredBefore(Oldest()), std::vector<int64_t>{3});
  Pass(12 * kDayMs);
  PurgeAll();
  EXPECT_EQ(StoredBefore(Oldest()), std::vector<int64_t>{});
}

TEST_F(EventsRetention, IsOfAWeekWhateverTheWallClockDoes) {
  Pass(3 * kDayMs);
  const UtcMs now = database.clock.Now();
  for (const UtcMs wrong : {UtcMs{1000}, now + 3650 * kDayMs, now - 9 * kDayMs, now}) {
    database.clock.SetWall(wrong);
    Pass(kDayMs - 2 * kHourMs);
    PurgeAll();
    EXPECT_EQ(Oldest(), 1);
  }
  Pass(2 * kDayMs);
  PurgeAll();
  EXPECT_GT(Oldest(), 1);
  EXPECT_LT(Oldest(), 3 * 24);
}

TEST_F(EventsRetention, BeginsWithAnEmptyLogAfterAReset) {
  Pass(8 * kDayMs);
  database->Write([](db::Tx& tx, const db::Stamp&) { RestartNumbering(tx, kCompany); });
  for (int i = 0; i < 5; ++i) AppendOne();
  PurgeAll();
  EXPECT_EQ(Oldest(), 1);
  EXPECT_EQ(StoredBefore(100).size(), 5u);
}

}  // namespace
}  // namespace comanda::events
