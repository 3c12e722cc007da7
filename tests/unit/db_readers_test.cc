#include "db/database.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "base/problem.h"
#include "db/sqlite/file_watcher.h"
#include "support/test_database.h"
#include "support/waiting.h"

namespace comanda::db {
namespace {

using testing::TestDatabase;
using Names = std::vector<std::string>;

TEST(DbReaders, SeeOneStateWhileTheWriterWrites) {
  TestDatabase database;
  database.Add("a");
  database->Read([&](Snapshot& snapshot) {
    EXPECT_EQ(TestDatabase::NamesIn(snapshot), Names{"a"});
    database.Add("b");
    EXPECT_EQ(TestDatabase::NamesIn(snapshot), Names{"a"});
  });
  EXPECT_EQ(database.Names(), (Names{"a", "b"}));
}

TEST(DbReaders, CannotWrite) {
  TestDatabase database;
  EXPECT_THROW(
      database->Read([](Snapshot& s) { s.Exists("INSERT INTO dish (name) VALUES ('x')"); }), Fault);
  EXPECT_EQ(database.Names(), Names{});
}

TEST(DbReaders, FinishTheirTransactionWhenTheFunctionThrows) {
  TestDatabase database(Settings{.readers_max = 1});
  database.Add("a");
  EXPECT_THROW(database->Read([](Snapshot& snapshot) {
    EXPECT_EQ(TestDatabase::NamesIn(snapshot), Names{"a"});
    throw Refusal(Problem::kNotFound, "no");
  }),
               Refusal);
  database.Add("b");
  EXPECT_EQ(database.Names(), (Names{"a", "b"})) << "on the same connection, a new state";
}

TEST(DbReaders, WaitForAFreeConnection) {
  TestDatabase database(Settings{.readers_max = 2, .readers_for_orders = 0});
  std::atomic<int> together{0};
  std::atomic<int> most{0};
  std::atomic<int> begun{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) {
          database->Read([&](Snapshot& snapshot) {
            const int now = ++together;
            int seen = most;
            while (now > seen && !most.compare_exchange_weak(seen, now)) continue;
            snapshot.GetInt("SELECT count(*) FROM dish");
            // The first waits for the second: on a busy machine they might never meet.
            EXPECT_TRUE(++begun > 1 || testing::Await([&] { return most == 2; }));
            --together;
          });
        }
      });
    }
  }
  EXPECT_EQ(most, 2);
}

TEST(DbReaders, KeepConnectionsForOrdersHoweverManyOthersRead) {
  TestDatabase database(Settings{.readers_max = 4, .readers_for_orders = 2});
  std::latch reading(2), done(1);
  std::atomic<int> others{0};
  std::vector<std::jthread> reports;
  for (int t = 0; t < 6; ++t) {
    reports.emplace_back([&] {
      database->Read([&](Snapshot&) {
        if (++others <= 2) reading.count_down();
        done.wait();
      });
    });
  }
  reading.wait();
  for (int i = 0; i < 10; ++i) {
    database->Read(
        [&](Snapshot& one) {
          EXPECT_EQ(TestDatabase::NamesIn(one), Names{});
          database->Read([&](Snapshot& two) { EXPECT_EQ(TestDatabase::NamesIn(two), Names{}); },
                         Readers::kOrders);
        },
        Readers::kOrders);
  }
  EXPECT_EQ(others, 2) << "the rest of the reports wait";
  done.count_down();
}

TEST(DbReaders, LeaveTheOthersOneConnectionInAnyCase) {
  TestDatabase database(Settings{.readers_max = 1});
  EXPECT_EQ(database.Names(), Names{});
}

TEST(DbReaders, InterruptAQueryThatTakesTooLong) {
  TestDatabase database;
  try {
    database->Read([&](Snapshot& snapshot) {
      static constexpr Sql kEndless =
          "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n";
      auto rows = snapshot.Query<kEndless>();
      database.clock.Advance(5001);
      rows.Next();
    });
    FAIL() << "the query has no end";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind, Fault::Kind::kUnavailable);
  }
  EXPECT_EQ(database.Names(), Names{}) << "and the connection serves again";
}

TEST(DbReaders, FindADamagedPage) {
  TestDatabase database;
  database.Damage(500);
  EXPECT_FALSE(db::FileWatcher(database->settings(), SystemClock()).CheckFile().is_sound());
}

TEST(DbReaders, EndACheckThatIsToldToEnd) {
  TestDatabase database;
  database->Write([](Tx& tx, const Stamp&) {
    for (int i = 0; i < 20'000; ++i) {
      tx.Run("INSERT INTO dish (name) VALUES ($1)", "dish " + std::to_string(i));
    }
  });
  FileWatcher watcher(database->settings(), SystemClock());
  watcher.EndWhen([] { return true; });
  try {
    watcher.CheckFile();
    FAIL();
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind, Fault::Kind::kUnavailable) << fault.cause;
  }
}

TEST(DbKept, IsReadAgainOnlyAfterItsCounterHasChanged) {
  constexpr CompanyId kCompany{7}, kOther{8};
  TestDatabase database;
  int reads = 0;
  const auto names = [&](CompanyId company) {
    return *database->Kept<Names>(company, 1, [&](Snapshot& snapshot) {
      ++reads;
      return TestDatabase::NamesIn(snapshot);
    });
  };
  database.Add("a");
  EXPECT_EQ(names(kCompany), Names{"a"});
  database.Add("b");
  EXPECT_EQ(names(kCompany), Names{"a"}) << "nobody has told";
  database->counters().Publish(kCompany, {.epoch = 1, .changes = {5, 0, 5}});
  EXPECT_EQ(names(kCompany), (Names{"a", "b"})) << "another epoch";
  database->counters().Publish(kCompany, {.epoch = 1, .changes = {6, 0, 6}});
  EXPECT_EQ(names(kCompany), (Names{"a", "b"}));
  EXPECT_EQ(reads, 2);
  database.Add("c");
  database->counters().Publish(kCompany, {.epoch = 1, .changes = {6, 1, 6}});
  EXPECT_EQ(names(kCompany), (Names{"a", "b", "c"}));
  EXPECT_EQ(reads, 3);
  EXPECT_EQ(names(kOther), (Names{"a", "b", "c"}));
  EXPECT_EQ(reads, 4) << "each company has its own";
}

}  // namespace
}  // namespace comanda::db
