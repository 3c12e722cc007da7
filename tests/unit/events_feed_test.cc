#include "events/feed.h"

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include <gtest/gtest.h>

#include "events/retention.h"
#include "support/log_reader.h"
#include "support/waiting.h"

namespace comanda::events {
namespace {

using testing::kCompany;
using testing::LogReader;

constexpr int64_t kHourMs = 60 * 60 * 1000;

constexpr RecordKeeper kNoRecords = {
    .holds_record = [](db::Session&, db::CompanyId, std::string_view, int64_t) { return false; },
    .release_record = [](db::Tx&, db::CompanyId, std::string_view, UtcMs) { return false; }};

class EventsFeed : public ::testing::Test {
 protected:
  EventsFeed() {
    database_->SetAfterCommit([this] { feed_.Committed(); });
  }
  ~EventsFeed() override { database_.Close(); }

  void Append(int count, Type type = Type::kOrderCreated) {
    database_->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      for (int i = 0; i < count; ++i) {
        events::Append(
            tx, kCompany, stamp,
            {.company_uuid = testing::kCompanyId, .type = type, .subject_id = "s", .body = "{}"});
      }
    });
  }
  // Two weeks with an event an hour, of which the older half may be purged.
  void AppendTwoWeeks() {
    for (int hour = 0; hour < 14 * 24; ++hour) {
      database_.clock.Advance(kHourMs);
      marks_.MakeIfDue();
      Append(1);
    }
  }
  Page Read(int64_t position, int limit) {
    return database_->Read(
        [&](db::Snapshot& snapshot) { return ReadPage(snapshot, kCompany, position, limit); });
  }
  Extent ReadExtent() { return Read(0, 1).extent; }

  Feed feed_;
  testing::RestaurantDatabase database_;
  Marks marks_{*database_, database_.clock, 1};
};

TEST_F(EventsFeed, HandsOutTheEventsAfterAPositionInOrder) {
  Append(5);

  const Page page = Read(1, 3);
  ASSERT_EQ(page.events.size(), 3U);
  EXPECT_EQ(page.events.front().seq, 2);
  EXPECT_EQ(page.events.back().seq, 4);
  EXPECT_EQ(page.position, 4);
  EXPECT_FALSE(page.at_end);
  EXPECT_EQ(page.extent.oldest, 1);
  EXPECT_EQ(page.extent.last, 5);

  EXPECT_TRUE(Read(4, 3).at_end);
  EXPECT_TRUE(Read(5, 3).at_end);
  EXPECT_EQ(Read(5, 3).position, 5);
}

TEST_F(EventsFeed, LooksAtABoundedNumberOfEventsForAReaderThatWantsFew) {
  Append(1'500);
  Append(1, Type::kProductCreated);
  const auto is_product = [](const StoredEvent& event) { return event.type == "PRODUCT_CREATED"; };
  const auto read = [&](int64_t position) {
    return database_->Read([&](db::Snapshot& snapshot) {
      return ReadPage(snapshot, kCompany, position, 50, is_product);
    });
  };

  const Page first = read(0);
  EXPECT_TRUE(first.events.empty());
  EXPECT_FALSE(first.at_end);
  EXPECT_GE(first.position, kLookedAtMax);
  EXPECT_LT(first.position, kLookedAtMax + 50);

  const Page second = read(first.position);
  ASSERT_EQ(second.events.size(), 1U);
  EXPECT_EQ(second.events[0].seq, 1'501);
  EXPECT_TRUE(second.at_end);
}

TEST_F(EventsFeed, PutsADamagedEventInThePlaceOfOneThatIsMissing) {
  const auto shown = [&](db::Sql damage, int64_t position, int limit) {
    std::string numbers;
    try {
      database_->Write([&](db::Tx& tx, const db::Stamp&) {
        tx.Run(damage);
        for (const StoredEvent& event : ReadPage(tx, kCompany, position, limit).events) {
          numbers += (event.is_damaged ? " !" : " ") + std::to_string(event.seq);
        }
        throw std::runtime_error("the damage is taken back");
      });
    } catch (const std::runtime_error&) {
    }
    return numbers;
  };
  Append(6);

  EXPECT_EQ(shown("DELETE FROM event WHERE seq = 3", 1, 3), " 2 !3 4");
  EXPECT_EQ(shown("DELETE FROM event WHERE seq IN (1, 2, 3)", 0, 2), " !1 !2");
  EXPECT_EQ(shown("DELETE FROM event WHERE seq > 4", 3, 9), " 4 !5 !6");
  EXPECT_EQ(shown("UPDATE event SET seq = 70 WHERE seq = 4", 0, 9), " 1 2 3 !4 5 6");
  EXPECT_EQ(shown("UPDATE event SET seq = 0 WHERE seq = 4", 0, 9), " 1 2 3 !4 5 6");
  EXPECT_EQ(shown("UPDATE event SET note = 'x' WHERE seq = 4", 3, 1), " !4");
}

TEST_F(EventsFeed, TakesACursorOnlyWhereTheLogContinuesIt) {
  const Extent extent{.epoch = 3, .oldest = 11, .last = 20};
  EXPECT_EQ(PositionOf({3, 10}, extent), 10);
  EXPECT_EQ(PositionOf({3, 20}, extent), 20);
  EXPECT_EQ(PositionOf({3, 9}, extent), std::nullopt);
  EXPECT_EQ(PositionOf({3, 21}, extent), std::nullopt);
  EXPECT_EQ(PositionOf({2, 15}, extent), std::nullopt);
}

TEST_F(EventsFeed, WakesItsReadersAfterACommitForAsLongAsTheyAreThere) {
  std::atomic<int> woken = 0;
  {
    const Feed::Reader quiet(feed_, "quiet", {});
    const Feed::Reader reader(feed_, "reader", {.committed = [&] { ++woken; }});
    for (int commits = 1; commits <= 3; ++commits) {
      Append(1);
      // The caller of a write is released before the wake-up.
      ASSERT_TRUE(testing::Await([&] { return woken >= commits; }));
    }
  }
  const int before = woken;
  Append(1);
  database_.Close();
  EXPECT_EQ(woken, before);
}

TEST_F(EventsFeed, APurgeMovesReadersThatAreBehindAndWaitsForNone) {
  LogReader ahead(*database_, "ahead");
  LogReader behind(*database_, "behind");
  const auto purged = [](const LogReader& reader) {
    return ReaderCalls{.committed = {},
                       .purged = [&](db::Tx& tx, db::CompanyId company, int64_t last) {
                         reader.Purged(tx, company, last);
                       }};
  };
  const Feed::Reader first(feed_, "ahead", purged(ahead));
  const Feed::Reader second(feed_, "behind", purged(behind));
  AppendTwoWeeks();
  while (!ahead.HandlePage(100)) continue;
  behind.HandlePage(10);

  Purge(*database_, database_.clock, marks_, feed_, kNoRecords);

  const int64_t deleted = ReadExtent().oldest - 1;
  EXPECT_GT(deleted, 5 * 24);
  EXPECT_EQ(ahead.state(), (LogReader::State{14 * 24, 0}));
  EXPECT_EQ(behind.state(), (LogReader::State{deleted, deleted - 10}));
  behind.HandlePage(1);
  EXPECT_EQ(behind.handled.back(), deleted + 1);
}

TEST_F(EventsFeed, APurgeWhoseReaderFailsDeletesNothing) {
  LogReader reader(*database_, "reader");
  const Feed::Reader first(
      feed_, "reader",
      {.committed = {}, .purged = [&](db::Tx& tx, db::CompanyId company, int64_t last) {
         reader.Purged(tx, company, last);
       }});
  const Feed::Reader second(feed_, "failing",
                            {.committed = {}, .purged = [](db::Tx&, db::CompanyId, int64_t) {
                               throw std::runtime_error("a mistake");
                             }});
  AppendTwoWeeks();

  EXPECT_THROW(Purge(*database_, database_.clock, marks_, feed_, kNoRecords), std::runtime_error);

  EXPECT_EQ(ReadExtent().oldest, 1);
  EXPECT_EQ(reader.state(), (LogReader::State{0, 0}));
}

}  // namespace
}  // namespace comanda::events
