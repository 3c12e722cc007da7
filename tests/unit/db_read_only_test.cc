// A file system that takes no writes: when it becomes so, at a start, and when it takes them again.

#include "db/read_only.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/problem.h"
#include "engine/upkeep.h"
#include "db/sqlite/file_watcher.h"
#include "support/faulty_disk.h"
#include "support/test_database.h"

namespace comanda::db {
namespace {

using testing::FaultyDisk;
using testing::TestDatabase;
using Names = std::vector<std::string>;
using Operation = FaultyDisk::Operation;

class DbReadOnly : public ::testing::Test {
 protected:
  Settings With(std::vector<Migration> migrations = {}) {
    return {.migrations = std::move(migrations), .vfs = disk_.name(), .is_read_only = [this] {
              return is_read_only_.load();
            }};
  }
  // Every write fails, and the file system says so, or does not.
  void BecomeReadOnly(bool says_so) {
    disk_.SetSystemError(EROFS);
    disk_.Fail(Operation::kWrite, 1, SQLITE_IOERR_WRITE);
    is_read_only_ = says_so;
  }
  void BecomeWritable() {
    disk_.Heal();
    is_read_only_ = false;
  }
  void ExpectRefused() {
    try {
      database_.Add("refused");
      FAIL() << "the disk takes no writes";
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.kind, Fault::Kind::kDiskReadOnly) << fault.cause;
    }
    EXPECT_FALSE(database_->health().writable);
    EXPECT_EQ(database_->health().reason, "the disk is read-only");
    EXPECT_TRUE(database_->IsReadOnly());
  }
  // The clock that the writer's probes follow stands still otherwise.
  void AwaitWritable(bool wanted) {
    for (int i = 0; i < 300 && database_->health().writable != wanted; ++i) {
      database_.clock.Advance(Upkeep::kProbeEveryMs);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    EXPECT_EQ(database_->health().writable, wanted);
  }

  std::atomic<bool> is_read_only_{false};
  FaultyDisk disk_;
  TestDatabase database_{With()};
};

TEST_F(DbReadOnly, IsSaidBeforeTheFirstWrite) {
  database_.Add("soup");
  is_read_only_ = true;
  AwaitWritable(false);
  EXPECT_EQ(database_->health().reason, "the disk is read-only");
  EXPECT_EQ(disk_.failed(), 0);
  EXPECT_EQ(database_.Names(), Names{"soup"});
  is_read_only_ = false;
  AwaitWritable(true);
  EXPECT_FALSE(database_->IsReadOnly());
  database_.Add("bread");
}

TEST_F(DbReadOnly, AWriteThatFindsOutIsRefusedAndTheProcessGoesOn) {
  database_.Add("soup");
  for (const bool says_so : {true, false}) {
    BecomeReadOnly(says_so);
    for (int i = 0; i < 5; ++i) ExpectRefused();
    EXPECT_EQ(database_.Names(), Names{"soup"}) << "reads go on";
    BecomeWritable();
    database_.Add("bread");
    database_->Write([](Tx& tx, const Stamp&) { tx.Run("DELETE FROM dish WHERE name = 'bread'"); });
    EXPECT_TRUE(database_->health().writable);
  }
}

TEST_F(DbReadOnly, ASyncThatFailsWithAnotherErrorDoesNotEndTheProcess) {
  database_.Add("soup");
  disk_.Fail(Operation::kSync, 1, SQLITE_IOERR_FSYNC);
  is_read_only_ = true;
  for (int i = 0; i < 5; ++i) ExpectRefused();
  BecomeWritable();
  database_.Add("bread");
  database_.Close();
  database_.Open();
  EXPECT_EQ(database_.Names(), (Names{"bread", "soup"})) << "what was refused is not found again";
}

TEST_F(DbReadOnly, AStartReadsTheFileAsItIsUntilItCanBeWritten) {
  database_.Add("soup");
  database_.Close();
  BecomeReadOnly(true);
  database_.Open();
  EXPECT_TRUE(database_->IsAlone());
  EXPECT_EQ(database_.Names(), Names{"soup"});
  ExpectRefused();
  BecomeWritable();
  AwaitWritable(true);
  EXPECT_FALSE(database_->IsAlone());
  database_.Add("bread");
  EXPECT_EQ(database_.Names(), (Names{"bread", "soup"}));
  EXPECT_TRUE(db::FileWatcher(database_->settings(), SystemClock()).CheckFile().is_sound());
}

TEST_F(DbReadOnly, ReadersEndBeforeTheFileIsWritten) {
  database_.Add("soup");
  database_.Close();
  BecomeReadOnly(true);
  database_.Open();
  std::atomic<bool> has_added{false};
  std::jthread writing;
  database_->Read([&](Snapshot& snapshot) {
    EXPECT_EQ(TestDatabase::NamesIn(snapshot), Names{"soup"});
    BecomeWritable();
    writing = std::jthread([&] {
      database_.Add("bread");
      has_added = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_FALSE(has_added);
    EXPECT_EQ(TestDatabase::NamesIn(snapshot), Names{"soup"});
  });
  writing.join();
  EXPECT_EQ(database_.Names(), (Names{"bread", "soup"}));
}

TEST_F(DbReadOnly, AStartThatWouldHaveToUpgradeSaysWhy) {
  database_.Add("soup");
  database_.Close();
  BecomeReadOnly(true);
  database_.settings().migrations.push_back({2, "price", "ALTER TABLE dish ADD price INTEGER;"});
  try {
    database_.Open();
    FAIL() << "the file is of an older program";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind, Fault::Kind::kDiskReadOnly);
    EXPECT_NE(fault.cause.find("must be upgraded"), std::string::npos) << fault.cause;
  }
}

TEST_F(DbReadOnly, AnOnlookerNeverWrites) {
  database_.Add("soup");
  database_.Close();
  database_.settings().is_onlooker = true;
  database_.Open();
  EXPECT_EQ(database_.Names(), Names{"soup"});
  ExpectRefused();
}

TEST(DbReadOnlyDirectory, OneThatCanBeWrittenIsNotReadOnly) {
  const testing::TemporaryDirectory directory;
  EXPECT_FALSE(DirectoryIsReadOnly(directory.path()));
  EXPECT_FALSE(DirectoryIsReadOnly(directory / "missing"));
}

}  // namespace
}  // namespace comanda::db
