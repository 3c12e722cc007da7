#include "db/database.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/problem.h"
#include "engine/library.h"
#include "db/sqlite/file_watcher.h"
#include "support/test_database.h"
#include "support/waiting.h"

namespace comanda::db {
namespace {

using testing::BusyWriter;
using testing::TestDatabase;
using Names = std::vector<std::string>;

// Adds a dish on a thread of its own and says how it went.
std::future<std::string> AddLater(TestDatabase& database, std::string name, bool refuse) {
  return std::async(std::launch::async, [&database, name, refuse]() -> std::string {
    try {
      database->Write([&](Tx& tx, const Stamp&) {
        tx.Run("INSERT INTO dish (name) VALUES ($1)", name);
        if (refuse) throw Refusal(Problem::kValidationFailed, "no " + name);
      });
      return "added";
    } catch (const Refusal& refusal) {
      return refusal.detail;
    } catch (const Fault& fault) {
      return fault.cause;
    }
  });
}

TEST(DbWriter, KeepsTheOthersOfAGroupWhenOneRefusesInTheMiddle) {
  TestDatabase database;
  BusyWriter busy(*database);
  std::vector<std::future<std::string>> results;
  for (const char* name : {"a", "b", "c"}) {
    results.push_back(AddLater(database, name, name == std::string("b")));
    database.AwaitQueued(static_cast<int64_t>(results.size()));
  }
  const int64_t commits = database.Metric("comanda_db_commits_total");
  busy.Release();

  EXPECT_EQ(results[0].get(), "added");
  EXPECT_EQ(results[1].get(), "no b");
  EXPECT_EQ(results[2].get(), "added");
  EXPECT_EQ(database.Names(), (Names{"a", "c"}));
  EXPECT_EQ(database.Metric("comanda_db_commits_total"), commits + 2) << "busy job, then the group";
}

// How often a job runs that is in one group with a job that refuses.
int RunsBesideARefusal(TestDatabase& database, const std::string& name) {
  BusyWriter busy(*database);
  std::atomic<int> runs = 0;
  std::future<void> added = std::async(std::launch::async, [&] {
    database->Write([&](Tx& tx, const Stamp&) {
      ++runs;
      tx.Run("INSERT INTO dish (name) VALUES ($1)", name);
    });
  });
  database.AwaitQueued(1);
  std::future<std::string> refused = AddLater(database, "none", true);
  database.AwaitQueued(2);
  busy.Release();
  added.get();
  EXPECT_EQ(refused.get(), "no none");
  return runs;
}

TEST(DbWriter, RunsAGroupAgainWithSavepointsWhenOneRefusesAndTheNextWithThemAtOnce) {
  TestDatabase database;
  EXPECT_EQ(RunsBesideARefusal(database, "a"), 2);
  EXPECT_EQ(RunsBesideARefusal(database, "b"), 1);
  EXPECT_EQ(database.Names(), (Names{"a", "b"}));
}

TEST(DbWriter, RollsBackASingleJobThatRefuses) {
  TestDatabase database;
  EXPECT_EQ(AddLater(database, "a", true).get(), "no a");
  EXPECT_EQ(database.Names(), Names{});
  EXPECT_EQ(AddLater(database, "a", false).get(), "added");
}

TEST(DbWriter, LeavesNothingOfAJobThatFailsWithinASqlStatement) {
  TestDatabase database;
  database.Add("soup");
  EXPECT_THROW(database->Write([](Tx& tx, const Stamp&) {
    tx.Run("INSERT INTO dish (name) VALUES ($1)", "bread");
    tx.Run("INSERT INTO dish (name) VALUES ($1)", "soup");
  }),
               Fault);
  EXPECT_EQ(database.Names(), Names{"soup"});
}

TEST(DbWriter, IsNotTakenForHungWhileALargeJobGetsOn) {
  TestDatabase database;
  std::vector<std::string> before;
  std::vector<std::string> after;
  database->Write([&](Tx& tx, const Stamp&) {
    database.clock.Advance(61'000);
    before = database.heartbeats().Stale();
    tx.GetInt(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) "
        "SELECT count(*) FROM n");
    after = database.heartbeats().Stale();
  });
  EXPECT_EQ(before, Names{"writer of live.db"});
  EXPECT_EQ(after, Names{});
}

TEST(DbWriter, NamesTheViolatedConstraintInTheFault) {
  TestDatabase database;
  database.Add("soup");
  try {
    database.Add("soup");
    FAIL() << "the name is unique";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind, Fault::Kind::kInternal);
    EXPECT_NE(fault.cause.find("UNIQUE constraint failed: dish.name"), std::string::npos);
  }
}

TEST(DbWriter, RethrowsWhatTheJobThrewWithItsType) {
  TestDatabase database;
  EXPECT_THROW(database->Write([](Tx&, const Stamp&) { throw std::out_of_range("x"); }),
               std::out_of_range);
  EXPECT_THROW(database->Write([](Tx&, const Stamp&) -> int { throw 7; }), int);
}

TEST(DbWriter, ReturnsTheResultOnlyWhenReadersSeeIt) {
  TestDatabase database;
  for (int i = 0; i < 200; ++i) {
    const int64_t id = database->Write([&](Tx& tx, const Stamp&) {
      return tx.GetInt("INSERT INTO dish (name) VALUES ($1) RETURNING id", std::to_string(i));
    });
    EXPECT_TRUE(database->Read(
        [&](Snapshot& s) { return s.Exists("SELECT 1 FROM dish WHERE id = $1", id); }));
  }
}

TEST(DbWriter, PublishesThenAnswersThenWakes) {
  TestDatabase database;
  std::atomic<int> published_at{0};
  std::promise<int> woken;
  std::atomic<int> step{0};
  database->SetAfterCommit([&] { woken.set_value(++step); });
  database->Write([&](Tx& tx, const Stamp&) {
    tx.OnCommit([&] { published_at = ++step; });
    EXPECT_EQ(step, 0);
  });
  EXPECT_EQ(published_at, 1) << "before the answer";
  EXPECT_EQ(woken.get_future().get(), 2);
  database->SetAfterCommit(nullptr);
}

TEST(DbWriter, PublishesNothingOfAJobThatRefuses) {
  TestDatabase database;
  std::atomic<int> published{0};
  std::atomic<int> woken{0};
  database->SetAfterCommit([&] { ++woken; });
  EXPECT_THROW(database->Write([&](Tx& tx, const Stamp&) {
    tx.OnCommit([&] { ++published; });
    throw Refusal(Problem::kNotFound, "no");
  }),
               Refusal);
  database->Stop();
  EXPECT_EQ(published, 0);
  EXPECT_EQ(woken, 0);
}

TEST(DbWriter, ContinuesFromTheLastStampWhenTheClockGoesBackOneMinute) {
  TestDatabase database;
  const auto stamp = [&] { return database->Write([](Tx&, const Stamp& s) { return s.now; }); };
  const UtcMs first = stamp();
  EXPECT_EQ(first, database.clock.Now());
  database.clock.SetWall(first - 60'000);
  EXPECT_EQ(stamp(), first);
  database.clock.SetWall(first + 1);
  EXPECT_EQ(stamp(), first + 1);
}

TEST(DbWriter, FollowsTheClockWhenItGoesBackOneHour) {
  TestDatabase database;
  const auto stamp = [&] { return database->Write([](Tx&, const Stamp& s) { return s.now; }); };
  const UtcMs first = stamp();
  database.clock.SetWall(first - 3'600'000);
  EXPECT_EQ(stamp(), first - 3'600'000);
}

TEST(DbWriter, ContinuesFromTheLastStampOfAnEarlierProcess) {
  TestDatabase database;
  const UtcMs before = database.clock.Now();
  database.Close();
  database.clock.SetWall(before - 60'000);
  database.Open();
  database->ContinueFrom(before);

  const UtcMs stamp = database->Write([](Tx&, const Stamp& given) { return given.now; });
  EXPECT_EQ(stamp, before);
}

TEST(DbWriter, RefusesAtOnceWhenTheQueueIsFull) {
  TestDatabase database(Settings{.queue_max = 2});
  BusyWriter busy(*database);
  auto first = AddLater(database, "a", false);
  auto second = AddLater(database, "b", false);
  database.AwaitQueued(2);
  EXPECT_EQ(AddLater(database, "c", false).get(), "the writer's queue is full");
  EXPECT_EQ(database.Metric("comanda_db_jobs_refused_total"), 1);
  busy.Release();
  EXPECT_EQ(first.get(), "added");
  EXPECT_EQ(second.get(), "added");
}

TEST(DbWriter, TakesNoMoreIntoAGroupThanItsMaximum) {
  TestDatabase database(Settings{.group_jobs_max = 2});
  BusyWriter busy(*database);
  std::vector<std::future<std::string>> results;
  for (int i = 0; i < 5; ++i) results.push_back(AddLater(database, std::to_string(i), false));
  database.AwaitQueued(5);
  const int64_t commits = database.Metric("comanda_db_commits_total");
  busy.Release();
  for (auto& result : results) EXPECT_EQ(result.get(), "added");
  EXPECT_EQ(database.Metric("comanda_db_commits_total"), commits + 1 + 3);
}

TEST(DbWriter, AnswersWhatIsQueuedWhenItStopsAndRefusesTheRest) {
  TestDatabase database;
  std::future<std::string> queued;
  std::future<void> stopped;
  {
    BusyWriter busy(*database);
    queued = AddLater(database, "a", false);
    database.AwaitQueued(1);
    stopped = std::async(std::launch::async, [&] { database->Stop(); });
    ASSERT_TRUE(testing::Await([&] { return !database->health().writable; }));
    EXPECT_EQ(AddLater(database, "b", false).get(), "the database is stopping");
    busy.Release();
  }
  stopped.get();
  EXPECT_EQ(queued.get(), "added");
  EXPECT_EQ(database.Names(), Names{"a"}) << "reads go on";
}

TEST(DbWriter, RunsTheOthersAgainWhenOneBreaksADeferredKeyAtCommit) {
  static constexpr Migration kTables = {
      1, "dish",
      "CREATE TABLE dish (id INTEGER PRIMARY KEY, name TEXT, menu INTEGER REFERENCES menu (id) "
      "DEFERRABLE INITIALLY DEFERRED) STRICT; CREATE TABLE menu (id INTEGER PRIMARY KEY) STRICT;"};
  TestDatabase database(Settings{.migrations = {kTables}});
  BusyWriter busy(*database);
  auto good = AddLater(database, "a", false);
  database.AwaitQueued(1);
  auto bad = std::async(std::launch::async, [&] {
    database->Write(
        [](Tx& tx, const Stamp&) { tx.Run("INSERT INTO dish (name, menu) VALUES ('b', $1)", 7); });
  });
  database.AwaitQueued(2);
  busy.Release();
  EXPECT_EQ(good.get(), "added");
  EXPECT_THROW(bad.get(), Fault);
  EXPECT_EQ(database.Names(), Names{"a"});
}

TEST(DbWriter, LosesNothingOfManyThreads) {
  TestDatabase database;
  constexpr int kThreads = 16;
  constexpr int kEach = 100;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&database, t] {
        for (int i = 0; i < kEach; ++i) database.Add(std::to_string(t) + "/" + std::to_string(i));
      });
    }
  }
  EXPECT_EQ(database.Names().size(), size_t{kThreads * kEach});
  EXPECT_LT(database.Metric("comanda_db_commits_total"), kThreads * kEach) << "groups were made";
  database.Close();
  database.Open();
  EXPECT_EQ(database.Names().size(), size_t{kThreads * kEach});
  EXPECT_TRUE(db::FileWatcher(database->settings(), SystemClock()).CheckFile().is_sound());
}

TEST(DbWriter, KeepsTheLogShortAndRemovesItAtTheEnd) {
  TestDatabase database;
  const std::string log = database.settings().path + "-wal";
  const std::string text(100'000, 'x');
  for (int i = 0; i < 300; ++i) database.Add(std::to_string(i) + text);  // 30 MB
  EXPECT_LT(std::filesystem::file_size(log), 16u << 20);
  EXPECT_GT(database.Metric("comanda_db_checkpoints_total"), 2);
  database.Close();
  EXPECT_FALSE(std::filesystem::exists(log));
}

TEST(DbWriter, EmptiesAGrownLogWhenNobodyWritesForAWhile) {
  TestDatabase database;
  const std::string log = database.settings().path + "-wal";
  database.Add(std::string(9'000'000, 'x'));
  EXPECT_GT(std::filesystem::file_size(log), 8u << 20);
  EXPECT_TRUE(testing::Await(
      [&] {
        database.clock.Advance(1000);
        return std::filesystem::file_size(log) == 0;
      },
      std::chrono::milliseconds(100)));
  EXPECT_EQ(database.Names().size(), 1u);
}

TEST(DbWriter, MakesFilesThatOnlyTheOwnerMayRead) {
  TestDatabase database;
  database.Add("soup");
  using std::filesystem::perms;
  for (const char* companion : {"", "-wal", "-shm"}) {
    const auto status = std::filesystem::status(database.settings().path + companion);
    EXPECT_EQ(status.permissions(), perms::owner_read | perms::owner_write) << companion;
  }
}

TEST(DbWriter, LinksALibraryWithoutTheCheckpointRace) {
  EXPECT_GE(LibraryVersionNumber(), 3'051'003) << LibraryVersion();
}

}  // namespace
}  // namespace comanda::db
