// Reads that the disk fails, and connections to files that nobody can write.

#include "db/sqlite/file_calls.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <string>

#include "base/problem.h"
#include "engine/connection.h"
#include "support/faulty_disk.h"
#include "support/test_database.h"

namespace comanda::db {
namespace {

using testing::FaultyDisk;
using testing::TestDatabase;
using Names = std::vector<std::string>;
using Operation = FaultyDisk::Operation;

// What unixRead() returns for EIO.
constexpr int kFailedRead = SQLITE_IOERR_CORRUPTFS;

TEST(DbFileCalls, AReadThatFailsOnceIsNoDamage) {
  FaultyDisk disk;
  TestDatabase database(Settings{.vfs = disk.name()});
  database.Add("soup");
  database.Close();
  database.Open();
  disk.Fail(Operation::kRead, 1, kFailedRead, 1);
  int failures = 0;
  for (int i = 0; i < 3; ++i) {
    try {
      EXPECT_EQ(database.Names(), Names{"soup"});
    } catch (const Fault& fault) {
      ++failures;
      EXPECT_EQ(fault.kind, Fault::Kind::kUnread) << fault.cause;
      EXPECT_EQ(fault.cause.find("restore"), std::string::npos) << fault.cause;
    }
  }
  EXPECT_EQ(disk.failed(), 1);
  EXPECT_EQ(failures, 1);
  EXPECT_TRUE(database->health().writable);
}

TEST(DbFileCalls, AJobWhoseReadFailsOnceRunsAgain) {
  FaultyDisk disk;
  TestDatabase database(Settings{.vfs = disk.name()});
  database.Add("soup");
  database.Close();
  database.Open();
  disk.Fail(Operation::kRead, 1, kFailedRead, 1);
  EXPECT_EQ(database.Add("bread"), 1);
  EXPECT_EQ(disk.failed(), 1);
  EXPECT_TRUE(database->health().writable);
  EXPECT_EQ(database.Names(), (Names{"bread", "soup"}));
}

// Copies of the files of a database whose last commits are only in its log.
class DbFileCallsAlone : public ::testing::Test {
 protected:
  DbFileCallsAlone() {
    database_.Add("soup");
    database_.Close();
    database_.Open();
    database_.Add("bread");
    for (const char* companion : {"", "-wal"}) {
      std::filesystem::copy_file(database_.settings().path + companion, path() + companion);
    }
  }
  std::string path() const { return elsewhere_ / "live.db"; }
  std::string Joined() {
    Connection connection(path(), Connection::Role::kReader, "", clock_, Sharing::kAlone);
    connection.Execute("BEGIN");
    Session session(connection);
    std::string all;
    for (const std::string& name : TestDatabase::NamesIn(session)) all += name + " ";
    connection.Rollback();
    return all;
  }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(elsewhere_.path()), {}));
  }

  TestDatabase database_;
  testing::TemporaryDirectory elsewhere_;
  testing::FakeClock clock_;
};

TEST_F(DbFileCallsAlone, SeesWhatIsOnlyInTheLogAndMakesNoFile) {
  EXPECT_EQ(Joined(), "bread soup ");
  EXPECT_EQ(files(), 2u);
}

TEST_F(DbFileCallsAlone, NeedsNoLog) {
  std::filesystem::remove(path() + "-wal");
  EXPECT_EQ(Joined(), "soup ");
  EXPECT_EQ(files(), 1u);
}

TEST_F(DbFileCallsAlone, SeveralReadAtTheSameTime) {
  Connection one(path(), Connection::Role::kReader, "", clock_, Sharing::kAlone);
  Connection another(path(), Connection::Role::kService, "", clock_, Sharing::kAlone);
  EXPECT_EQ(one.Integer("SELECT count(*) FROM dish"), 2);
  EXPECT_EQ(another.Integer("SELECT count(*) FROM dish"), 2);
  EXPECT_EQ(Joined(), "bread soup ");
}

}  // namespace
}  // namespace comanda::db
