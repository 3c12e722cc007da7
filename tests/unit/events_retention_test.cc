#include "events/retention.h"

#include <gtest/gtest.h>

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
                    {.type = Type::kOrderCreated,
                     .changes = {},
                     .subject_id = "s1",
                     .subject_version = 1,
                     .body = "{}"});
    });
  }

  // An event every hour, as long as that.
  void Pass(int64_t ms) {
    for (int64_t passed = 0; passed < ms; passed += kHourMs) {
      database.clock.Advance(kHourMs);
      AppendOne();
    }
  }

  void PurgeAll() {
    for (int i = 0; i < 10; ++i) Purge(*database, database.clock);
  }

  int64_t Oldest() {
    return database->Read(
        [](db::Snapshot& snapshot) { return ExtentOf(snapshot, kCompany).oldest; });
  }

  testing::RestaurantDatabase database;
};

TEST_F(EventsRetention, KeepsAWeekAndForgetsWhatIsOlder) {
  Pass(7 * kDayMs);
  PurgeAll();
  EXPECT_EQ(Oldest(), 1);
  Pass(13 * kDayMs);
  PurgeAll();
  EXPECT_GT(Oldest(), 10 * 24);
  EXPECT_LE(Oldest(), 13 * 24);
}

TEST_F(EventsRetention, LosesNothingToAnHourThatWasIn1970) {
  Pass(3 * kDayMs);
  const UtcMs now = database.clock.Now();
  database.clock.SetWall(1000);
  for (int i = 0; i < 200; ++i) AppendOne();  // more than the half, where a bisection would look
  database.clock.SetWall(now);
  Pass(2 * kDayMs);
  PurgeAll();
  EXPECT_EQ(Oldest(), 1);
}

TEST_F(EventsRetention, ForgetsWhatAWrongClockStampedWithWhatStandsBehindIt) {
  Pass(kDayMs);
  const UtcMs now = database.clock.Now();
  for (const UtcMs wrong : {UtcMs{1000}, now + 3650 * kDayMs}) {
    database.clock.SetWall(wrong);
    for (int i = 0; i < 20; ++i) AppendOne();
  }
  database.clock.SetWall(now);
  Pass(3 * kDayMs);
  PurgeAll();
  EXPECT_EQ(Oldest(), 1);
  Pass(12 * kDayMs);
  PurgeAll();
  EXPECT_GT(Oldest(), 24 + 40);
}

}  // namespace
}  // namespace comanda::events
