// The disk fails at every write and every sync in turn: what was acknowledged is there afterwards,
// what was refused is not.

#include "db/database.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/problem.h"
#include "db/sqlite/file_watcher.h"
#include "support/faulty_disk.h"
#include "support/test_database.h"
#include "support/waiting.h"

namespace comanda::db {
namespace {

using testing::BusyWriter;
using testing::FaultyDisk;
using testing::TestDatabase;
using Names = std::vector<std::string>;
using Operation = FaultyDisk::Operation;

struct Outcome {
  std::set<std::string> acknowledged;
  std::set<std::string> refused;
};

// Ten jobs in one group, some pages each: five writes, since those of the log are gathered
// (db/sqlite/log_writes.h).
Outcome AddTen(TestDatabase& database, const std::string& prefix) {
  Outcome outcome;
  std::mutex mutex;
  BusyWriter busy(*database);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 10; ++i) {
    threads.emplace_back([&, name = prefix + std::to_string(i)] {
      bool done = false;
      try {
        database->Write([&](Tx& tx, const Stamp&) {
          tx.Run("INSERT INTO dish (name) VALUES ($1)", name);
          tx.Run("INSERT INTO ballast (text) VALUES ($1)", std::string(30'000, 'x'));
        });
        done = true;
      } catch (const Fault& fault) {
        EXPECT_NE(fault.kind, Fault::Kind::kInternal) << fault.cause;
      }
      const std::lock_guard lock(mutex);
      (done ? outcome.acknowledged : outcome.refused).insert(name);
    });
  }
  database.AwaitQueued(10);
  busy.Release();
  threads.clear();
  return outcome;
}

class DbDisk : public ::testing::Test {
 protected:
  static constexpr Migration kTables = {
      1, "tables",
      "CREATE TABLE dish (id INTEGER PRIMARY KEY, name TEXT UNIQUE, at INTEGER) STRICT;"
      "CREATE TABLE ballast (text TEXT) STRICT;"};

  // The names in the file as a new process finds them, on a disk that works.
  std::set<std::string> AfterReopening() {
    disk_.Heal();
    database_.Close();
    database_.Open();
    EXPECT_TRUE(db::FileWatcher(database_->settings(), SystemClock()).CheckFile().is_sound());
    const Names names = database_.Names();
    return {names.begin(), names.end()};
  }

  // The names in the files as they would lie there if the process ended now.
  std::set<std::string> AfterAKill() {
    const testing::TemporaryDirectory elsewhere;
    const std::string copy = elsewhere / "live.db";
    for (const char* companion : {"", "-wal"}) {
      std::filesystem::copy_file(database_.settings().path + companion, copy + companion);
    }
    TestDatabase recovered(Settings{.path = copy, .migrations = {kTables}});
    const Names found = recovered.Names();
    return {found.begin(), found.end()};
  }

  FaultyDisk disk_;
  TestDatabase database_{Settings{.migrations = {kTables}, .vfs = disk_.name()}};
};

TEST_F(DbDisk, AnswersFullAndStaysUpAndRecoversByItself) {
  database_.Add("before");
  disk_.Fail(Operation::kWrite, 1, SQLITE_FULL);
  for (int i = 0; i < 3; ++i) {
    try {
      database_.Add("refused");
      FAIL() << "the disk is full";
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.kind, Fault::Kind::kDiskFull) << fault.cause;
    }
  }
  EXPECT_FALSE(database_->health().writable);
  EXPECT_EQ(database_->health().reason, "the disk is full");
  EXPECT_EQ(database_.Names(), Names{"before"}) << "reads go on";

  disk_.Heal();
  database_.Add("after");
  EXPECT_TRUE(database_->health().writable);
  EXPECT_EQ(AfterReopening(), (std::set<std::string>{"before", "after"}));
}

TEST_F(DbDisk, FindsOutWithoutAJobThatThereIsSpaceAgain) {
  disk_.Fail(Operation::kWrite, 1, SQLITE_FULL);
  EXPECT_THROW(database_.Add("refused"), Fault);
  disk_.Heal();
  EXPECT_TRUE(testing::Await(
      [&] {
        database_.clock.Advance(1000);
        return database_->health().writable;
      },
      std::chrono::milliseconds(100)));
}

TEST_F(DbDisk, KeepsWhatFitsWhenAGroupDoesNot) {
  size_t kept = 0;
  size_t refused = 0;
  for (int writes = 1; writes < 10; ++writes) {
    disk_.Fail(Operation::kWrite, writes, SQLITE_FULL, 2 + writes % 7);
    const std::string prefix = std::to_string(writes) + "/";
    const Outcome outcome = AddTen(database_, prefix);
    const std::set<std::string> found = AfterReopening();
    for (const auto& name : outcome.acknowledged) EXPECT_TRUE(found.contains(name)) << name;
    for (const auto& name : outcome.refused) EXPECT_FALSE(found.contains(name)) << name;
    EXPECT_EQ(outcome.acknowledged.size() + outcome.refused.size(), 10u);
    kept += outcome.acknowledged.size();
    refused += outcome.refused.size();
  }
  EXPECT_GT(kept, 0u);
  EXPECT_GT(refused, 0u);
}

TEST_F(DbDisk, RunsTheJobsAgainWhenOneWriteFails) {
  using Manner = FaultyDisk::Manner;
  for (int round = 0; round < 18; ++round) {
    const int failed = disk_.failed();
    const Manner manner = round % 2 == 0 ? Manner::kNothingDone : Manner::kHalfDone;
    disk_.Fail(Operation::kWrite, 1 + round / 2, SQLITE_IOERR_WRITE, 1, manner);
    const Outcome outcome = AddTen(database_, std::to_string(round) + "/");
    EXPECT_EQ(outcome.acknowledged.size(), 10u);
    EXPECT_TRUE(database_->health().writable);
    EXPECT_LE(disk_.failed(), failed + 1);
    const std::set<std::string> found = AfterReopening();
    for (const auto& name : outcome.acknowledged) EXPECT_TRUE(found.contains(name)) << name;
  }
  EXPECT_GT(disk_.failed(), 8);
}

TEST_F(DbDisk, ReopensTheFileWhenASyncFails) {
  for (int syncs = 1; syncs <= 3; ++syncs) {
    disk_.Fail(Operation::kSync, syncs, SQLITE_IOERR_FSYNC, 1);
    const Outcome outcome = AddTen(database_, std::to_string(syncs) + "/");
    EXPECT_EQ(outcome.acknowledged.size(), 10u);
    const std::set<std::string> found = AfterReopening();
    EXPECT_EQ(found.size(), static_cast<size_t>(10 * syncs)) << "each once";
  }
  EXPECT_GE(disk_.failed(), 2);
}

// A till that was told so sends it again.
TEST_F(DbDisk, LeavesNothingInTheLogOfAJobThatItSaysFailed) {
  std::set<std::string> done;
  for (int syncs = 1; syncs <= 3; ++syncs) {
    const std::string name = std::to_string(syncs);
    disk_.Fail(Operation::kSync, 1, SQLITE_IOERR_FSYNC, syncs);
    try {
      database_.Add(name);
      done.insert(name);
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.kind, Fault::Kind::kUnavailable) << fault.cause;
    }
    disk_.Heal();
    EXPECT_EQ(AfterAKill(), done) << syncs;
  }
}

// A file system may find out at the sync alone that it has no space for what it took.
TEST_F(DbDisk, LeavesNothingInTheLogOfAJobWhoseSyncFoundNoSpace) {
  std::set<std::string> done;
  for (int syncs = 1; syncs <= 4; ++syncs) {
    const std::string name = std::to_string(syncs);
    disk_.Fail(Operation::kSync, 1, SQLITE_FULL, syncs);
    try {
      database_.Add(name);
      done.insert(name);
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.kind, Fault::Kind::kDiskFull) << fault.cause;
    }
    disk_.Heal();
    EXPECT_EQ(AfterAKill(), done) << syncs;
  }
  EXPECT_LT(done.size(), 4u);
}

TEST_F(DbDisk, SurvivesACheckpointThatFailsOnce) {
  const std::string text(500'000, 'x');
  const auto add = [&](int i) {
    database_->Write([&](Tx& tx, const Stamp&) {
      tx.Run("INSERT INTO dish (name) VALUES ($1)", std::to_string(i));
      tx.Run("INSERT INTO ballast (text) VALUES ($1)", text);
    });
  };
  for (int i = 0; i < 16; ++i) add(i);  // a little below kCheckpointBytes
  // The sync of the commit passes, that of the checkpoint behind it fails.
  disk_.Fail(Operation::kSync, 2, SQLITE_IOERR_FSYNC, 1);
  add(16);
  for (int i = 17; i < 28; ++i) {
    ASSERT_TRUE(testing::Await([&] { return database_->health().writable; }));
    add(i);
  }
  EXPECT_EQ(disk_.failed(), 1);
  EXPECT_EQ(database_.Metric("comanda_db_disk_failures_total"), 1);
  EXPECT_EQ(AfterReopening().size(), 28u);
}

// Of a row that fills a page of its own.
constexpr size_t kBallastBytes = 800;

// Many pages, none of them in memory.
void FillAndReopen(TestDatabase& database) {
  database->Write([](Tx& tx, const Stamp&) {
    for (int i = 0; i < 20; ++i) {
      tx.Run("INSERT INTO ballast (text) VALUES ($1)", std::string(kBallastBytes, 'x'));
    }
  });
  database.Close();
  database.Open();
}

int64_t AddAfterReading(TestDatabase& database, const std::string& name) {
  return database->Write([&](Tx& tx, const Stamp&) {
    int64_t bytes = 0;
    for (const std::string& text : tx.FindTexts("SELECT text FROM ballast")) {
      bytes += static_cast<int64_t>(text.size());
    }
    tx.Run("INSERT INTO dish (name) VALUES ($1)", name);
    return bytes;
  });
}

TEST_F(DbDisk, ReopensTheFileWhenAJobMeetsAPageThatCameAsGarbage) {
  FillAndReopen(database_);
  disk_.Fail(Operation::kRead, 10, SQLITE_IOERR_READ, 1, FaultyDisk::Manner::kGarbled);
  EXPECT_EQ(AddAfterReading(database_, "soup"), int64_t{20 * kBallastBytes});
  EXPECT_EQ(disk_.failed(), 1);
  EXPECT_EQ(database_.Metric("comanda_db_disk_failures_total"), 1) << "reopened once";
  EXPECT_TRUE(database_->health().writable);
  EXPECT_EQ(AfterReopening(), std::set<std::string>{"soup"});
}

TEST_F(DbDisk, TakesNoJobsOnceTheFileWasFoundDamaged) {
  database_.Add("before");
  database_->RefuseWrites("a page is malformed");
  try {
    database_.Add("refused");
    FAIL() << "it could destroy more";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind, Fault::Kind::kReadOnly);
  }
  EXPECT_FALSE(database_->health().writable);
  EXPECT_EQ(database_->health().reason, "damaged: comanda verify --repair");
  EXPECT_EQ(database_.Names(), Names{"before"}) << "reads go on";
}

// What follows from the damage is decided by the check of the file (integrity/checker.h).
TEST(DbDiskDamage, AMalformedPageFailsItsJobAloneAndIsSuspected) {
  TestDatabase database(Settings{.migrations = {{1, "tables",
                                                 "CREATE TABLE ballast (text TEXT) STRICT;"
                                                 "CREATE TABLE dish (name TEXT) STRICT;"}}});
  FillAndReopen(database);
  {
    std::fstream file(database.settings().path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(10 * 1024);  // pages 11 and 12
    file << std::string(2 * 1024, '\xA5');
  }
  for (int i = 0; i < 10; ++i) {
    try {
      AddAfterReading(database, "soup");
      FAIL() << "a page is malformed";
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.kind, Fault::Kind::kInternal) << fault.cause;
    }
  }
  EXPECT_TRUE(database->TakeSuspicion());
  EXPECT_FALSE(database->TakeSuspicion());
  EXPECT_TRUE(database->health().writable);
  database->Write([](Tx& tx, const Stamp&) { tx.Run("INSERT INTO dish (name) VALUES ('soup')"); });
  EXPECT_EQ(database.Names(), Names{"soup"});
}

// A read that succeeds when it is repeated is no damage.
TEST_F(DbDisk, AReadThatFailsOnceIsRepeated) {
  for (int i = 0; i < 5; ++i) {
    FillAndReopen(database_);
    disk_.Fail(Operation::kRead, 10, SQLITE_IOERR_READ, 1);
    EXPECT_GT(AddAfterReading(database_, std::to_string(i)), 0);
    disk_.Heal();
    EXPECT_TRUE(database_->health().writable);
  }
  EXPECT_EQ(disk_.failed(), 5);
  EXPECT_EQ(AfterReopening().size(), 5u);
}

TEST(DbDiskDeathTest, EndsTheProcessWhenTheDiskKeepsFailing) {
  EXPECT_EXIT(
      {
        FaultyDisk disk;
        TestDatabase database(Settings{.vfs = disk.name()});
        database.Add("soup");
        disk.Fail(Operation::kSync, 1, SQLITE_IOERR_FSYNC);
        for (int i = 0; i < 10; ++i) {
          try {
            database.Add(std::to_string(i));
          } catch (const Fault&) {
            continue;
          }
        }
      },
      ::testing::ExitedWithCode(70), "");
}

}  // namespace
}  // namespace comanda::db
