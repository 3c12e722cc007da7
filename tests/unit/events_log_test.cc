#include "events/log.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "events/cursor.h"
#include "support/restaurant_database.h"

namespace comanda::events {
namespace {

using testing::kCompany;
using testing::kOtherCompany;
using testing::RestaurantDatabase;

int64_t AppendOne(RestaurantDatabase& database, db::CompanyId company, Type type,
                  Changes changes = {}) {
  return database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
    return Append(tx, company, stamp,
                  {.company_uuid = testing::kCompanyId,
                   .type = type,
                   .changes = changes,
                   .subject_id = "s1",
                   .subject_version = 3,
                   .body = R"({"id":"s1"})"})
        .seq;
  });
}

std::vector<StoredEvent> After(RestaurantDatabase& database, int64_t seq, int limit = 100) {
  return database->Read(
      [&](db::Snapshot& snapshot) { return ReadAfter(snapshot, kCompany, seq, limit); });
}

TEST(EventsLog, KeepsTheRecordAfterTheChange) {
  RestaurantDatabase database;
  Changes changes;
  changes.Add(Change::kCancelled);
  changes.Add(Change::kStatus);
  AppendOne(database, kCompany, Type::kOrderUpdated, changes);

  const StoredEvent event = After(database, 0).at(0);
  EXPECT_EQ(event.seq, 1);
  EXPECT_EQ(event.type, "ORDER_UPDATED");
  EXPECT_EQ(event.changes, "status,cancelled");
  EXPECT_EQ(event.subject_type, "order");
  EXPECT_EQ(event.subject_id, "s1");
  EXPECT_EQ(event.subject_version, 3);
  EXPECT_EQ(event.at, database.clock.Now());
  EXPECT_EQ(event.body, R"({"id":"s1"})");
  EXPECT_EQ(event.event_id.size(), 36u);
}

TEST(EventsLog, NumbersWithoutGapsPerCompany) {
  RestaurantDatabase database;
  EXPECT_EQ(AppendOne(database, kCompany, Type::kOrderCreated), 1);
  EXPECT_EQ(AppendOne(database, kOtherCompany, Type::kOrderCreated), 1);
  EXPECT_THROW(database->Write([](db::Tx& tx, const db::Stamp& stamp) {
    Append(tx, kCompany, stamp,
           {.company_uuid = testing::kCompanyId,
            .type = Type::kOrderCreated,
            .changes = {},
            .subject_id = "x",
            .body = "{}"});
    throw std::runtime_error("refused");
  }),
               std::runtime_error);
  EXPECT_EQ(AppendOne(database, kCompany, Type::kOrderUpdated), 2);
  const std::vector<StoredEvent> events = After(database, 0);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_NE(events[0].event_id, events[1].event_id);
  EXPECT_EQ(After(database, 1).at(0).seq, 2);
  EXPECT_EQ(After(database, 0, 1).size(), 1u);
}

TEST(EventsLog, PublishesTheCountersAtCommit) {
  RestaurantDatabase database;
  AppendOne(database, kCompany, Type::kOrderCreated);
  AppendOne(database, kCompany, Type::kProductUpdated);
  database->Write([](db::Tx& tx, const db::Stamp&) {
    RaiseCounter(tx, kCompany, Counter::kCatalogue);
    RaiseCounter(tx, kCompany, Counter::kOther);
  });
  const db::ChangeCounters::Values values = database->counters().Of(kCompany);
  EXPECT_EQ(values.epoch, 1);
  EXPECT_EQ(values.changes, (std::array<int64_t, 4>{1, 2, 1, 0}));
  EXPECT_EQ(database->counters().Of(kOtherCompany).changes[0], 0);
}

TEST(EventsLog, LoadsTheCountersAtStart) {
  RestaurantDatabase database;
  AppendOne(database, kCompany, Type::kOrderCreated);
  db::ChangeCounters counters;
  database->Read([&](db::Snapshot& snapshot) {
    LoadCounters(snapshot, counters);
    return 0;
  });
  EXPECT_EQ(counters.Of(kCompany).changes[0], 1);
}

TEST(EventsLog, EndsWithTheLastEvent) {
  RestaurantDatabase database;
  AppendOne(database, kCompany, Type::kOrderCreated);
  AppendOne(database, kCompany, Type::kOrderCreated);
  const Extent log =
      database->Read([](db::Snapshot& snapshot) { return ExtentOf(snapshot, kCompany); });
  EXPECT_EQ(log.epoch, 1);
  EXPECT_EQ(log.last, 2);
}

TEST(EventsCursor, ReadsOnlyWhatItWrote) {
  EXPECT_EQ(Decode(Encode({7, 123'456'789'012})), (Cursor{7, 123'456'789'012}));
  for (const char* text : {"", ".", "1", "1.", ".1", "1.-1", "01.1", "1.A", "1.1 ", "1.2.3",
                           "1.zzzzzzzzzzzzzzzzzzzz"}) {
    EXPECT_EQ(Decode(text), std::nullopt) << text;
  }
}

TEST(EventsLog, KnowsWhenTheLastEventWas) {
  RestaurantDatabase database;
  const auto last = [&] {
    return database->Read([](db::Snapshot& snapshot) { return LastTime(snapshot); });
  };
  EXPECT_EQ(last(), 0);
  AppendOne(database, kCompany, Type::kOrderCreated);
  database.clock.Advance(1000);
  AppendOne(database, kOtherCompany, Type::kOrderCreated);
  EXPECT_EQ(last(), database.clock.Now());
}

}  // namespace
}  // namespace comanda::events
