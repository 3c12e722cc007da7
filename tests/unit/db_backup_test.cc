#include "db/sqlite/backup.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/problem.h"
#include "db/sqlite/file_watcher.h"
#include "support/test_database.h"

namespace comanda::db {
namespace {

using testing::TestDatabase;
using Names = std::vector<std::string>;

bool IsBackup(TestDatabase& database) {
  return database->Read([](Snapshot& snapshot) { return db::IsBackup(snapshot); });
}

TEST(DbBackup, HoldsWhatIsCommittedWhileTheWriterWrites) {
  TestDatabase database;
  database.Add("a");
  const std::string path = database.directory / "copy.db";
  BackUp(database.settings().path, path, database.clock);
  database.Add("b");
  BackUp(database.settings().path, path, database.clock);
  database.Add("c");

  EXPECT_EQ(database.Names(), (Names{"a", "b", "c"}));
  EXPECT_FALSE(IsBackup(database));
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(path).permissions(), perms::owner_read | perms::owner_write);
  for (const char* part : {"-wal", "-shm", ".unfinished", ".unfinished-wal"}) {
    EXPECT_FALSE(std::filesystem::exists(path + part)) << part;
  }
  TestDatabase copy(Settings{.path = path});
  EXPECT_EQ(copy.Names(), (Names{"a", "b"}));
  EXPECT_TRUE(db::FileWatcher(copy->settings(), SystemClock()).CheckFile().is_sound());
}

TEST(DbBackup, SaysThatItIsOneUntilItIsTakenUp) {
  TestDatabase database;
  const std::string path = database.directory / "copy.db";
  BackUp(database.settings().path, path, database.clock);

  TestDatabase copy(Settings{.path = path});
  EXPECT_TRUE(IsBackup(copy));
  const auto refuses = [](Tx& tx, const Stamp&) {
    TakeUp(tx);
    throw Refusal(Problem::kNotFound, "");
  };
  EXPECT_THROW(copy->Write(refuses), Refusal);
  EXPECT_TRUE(IsBackup(copy)) << "it belongs to the transaction";
  copy->Write([](Tx& tx, const Stamp&) { TakeUp(tx); });
  EXPECT_FALSE(IsBackup(copy));
  copy.Close();
  copy.Open();
  EXPECT_FALSE(IsBackup(copy));
}

TEST(DbBackup, IsNotMadeOfADamagedDatabase) {
  TestDatabase database;
  database.Damage(2'000);
  const std::string source = database.settings().path;

  const std::string path = database.directory / "copy.db";
  EXPECT_THROW(BackUp(source, path, database.clock), Fault);
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace comanda::db
