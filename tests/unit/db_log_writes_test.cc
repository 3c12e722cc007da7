// What gathering the log's writes must not change: what is on the disk after a commit, and what a
// commit says when the disk fails.

#include "db/sqlite/log_writes.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>

#include "base/problem.h"
#include "support/faulty_disk.h"
#include "support/test_database.h"

namespace comanda::db {
namespace {

using testing::FaultyDisk;
using testing::TestDatabase;
using Operation = FaultyDisk::Operation;

TEST(DbLogWrites, ACommitOfSomePagesIsOneWrite) {
  FaultyDisk disk;
  TestDatabase database({.vfs = disk.name()});
  database.Add("Paella");
  const int before = disk.count(Operation::kWrite);

  database.Add("Gazpacho" + std::string(20'000, 'o'));

  EXPECT_EQ(disk.count(Operation::kWrite) - before, 1);
}

TEST(DbLogWrites, AWriteThatFailsIsTheCommitsFailure) {
  FaultyDisk disk;
  TestDatabase database({.vfs = disk.name()});
  database.Add("Paella");
  const int syncs = disk.count(Operation::kSync);

  disk.Fail(Operation::kWrite, 1, SQLITE_FULL);
  try {
    database.Add("Gazpacho");
    ADD_FAILURE() << "was acknowledged";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind, Fault::Kind::kDiskFull) << fault.cause;
  }
  EXPECT_EQ(disk.count(Operation::kSync), syncs) << "synced what was not written";
}

TEST(DbLogWrites, ATransactionLargerThanTheCacheIsThereAfterOpeningAgain) {
  TestDatabase database;
  constexpr int kDishes = 300;  // of 64 KiB: more than the writer keeps in memory
  const auto name = [](int n) {
    return std::to_string(n) + std::string(64 * 1024, static_cast<char>('a' + n % 26));
  };
  database->Write([&](Tx& tx, const Stamp&) {
    for (int n = 0; n < kDishes; ++n) tx.Run("INSERT INTO dish (name) VALUES ($1)", name(n));
    // Pages that are in the log already are written a second time.
    tx.Run("DELETE FROM dish WHERE id % 2 = 0");
  });

  // With no checkpoint between: the log alone has it.
  const auto count = [&] {
    return database->Read([&](Snapshot& snapshot) {
      static constexpr Sql kSelect = "SELECT id, name FROM dish";
      auto rows = snapshot.Query<kSelect>();
      int found = 0;
      for (; rows.Next(); ++found) {
        EXPECT_EQ(rows.Text("name"), name(static_cast<int>(rows.Int("id")) - 1));
      }
      return found;
    });
  };
  EXPECT_EQ(count(), kDishes / 2);
  database.Close();
  database.Open();
  EXPECT_EQ(count(), kDishes / 2);
}

}  // namespace
}  // namespace comanda::db
