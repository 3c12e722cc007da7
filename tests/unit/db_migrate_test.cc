#include "db/sqlite/migrate.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "support/test_database.h"

namespace comanda::db {
namespace {

using testing::kDishTable;
using testing::TestDatabase;
using Names = std::vector<std::string>;

constexpr Migration kPrice = {2, "price", R"(
  -- What a dish costs.
  ALTER TABLE dish ADD COLUMN price INTEGER;
  UPDATE dish SET price = 0;
)"};
constexpr Migration kBroken = {3, "broken", R"(
  DELETE FROM dish;
  CREATE TABLE dish (id INTEGER);
)"};
constexpr Migration kDangling = {3, "dangling", R"(
  CREATE TABLE menu (id INTEGER PRIMARY KEY) STRICT;
  CREATE TABLE line (menu INTEGER REFERENCES menu (id)) STRICT;
  INSERT INTO line VALUES (7);
)"};

std::string WhyItFails(TestDatabase& database) {
  try {
    database.Open();
    return "";
  } catch (const Fault& fault) {
    return fault.cause;
  }
}

void ExpectContains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), text.npos) << text;
}

void Execute(const std::string& path, const char* sql) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(handle);
}

TEST(DbMigrate, TakesANewFileThroughAllWithoutCopies) {
  TestDatabase database(Settings{.migrations = {kDishTable, kPrice}});
  database->Read([](Snapshot& session) {
    EXPECT_EQ(session.GetInt("PRAGMA user_version"), 2);
    EXPECT_EQ(session.GetInt("PRAGMA application_id"), 0x434d4441);
    EXPECT_EQ(session.GetInt("SELECT count(price) FROM dish"), 0);
  });
  EXPECT_FALSE(std::filesystem::exists(database.settings().path + ".before-1"));
  EXPECT_FALSE(std::filesystem::exists(database.settings().path + ".before-2"));
}

TEST(DbMigrate, CopiesTheFileBeforeItChangesIt) {
  TestDatabase database;
  database.Add("soup");
  database.Close();
  database.settings().migrations = {kDishTable, kPrice};
  database.Open();
  database->Read([](Snapshot& session) {
    EXPECT_EQ(session.GetInt("SELECT price FROM dish WHERE name = 'soup'"), 0);
  });

  TestDatabase before(Settings{.path = database.settings().path + ".before-2"});
  EXPECT_EQ(before.Names(), Names{"soup"});
}

TEST(DbMigrate, LeavesTheFileAsItWasWhenOneFails) {
  TestDatabase database;
  database.Add("soup");
  database.Close();
  database.settings().migrations = {kDishTable, kPrice, kBroken};
  const std::string why = WhyItFails(database);
  ExpectContains(why, "migration 3 (broken)");
  ExpectContains(why, "table dish already exists");

  database.settings().migrations = {kDishTable, kPrice};
  database.Open();
  EXPECT_EQ(database.Names(), Names{"soup"});
}

TEST(DbMigrate, DoesAllThatIsPendingOrNothing) {
  TestDatabase database;
  database.Add("soup");
  database.Close();
  database.settings().migrations = {kDishTable, kPrice, kBroken};
  WhyItFails(database);

  database.settings().migrations = {kDishTable};
  database.Open();  // else: used by a newer program
  EXPECT_EQ(database.Names(), Names{"soup"});
}

TEST(DbMigrate, KeepsOneCopyTheNewest) {
  TestDatabase database;
  database.Close();
  const std::string path = database.settings().path;
  database.settings().migrations = {kDishTable, kPrice};
  database.Open();
  database.Close();
  EXPECT_TRUE(std::filesystem::exists(path + ".before-2"));
  database.settings().migrations.push_back({3, "cook", "ALTER TABLE dish ADD COLUMN cook TEXT;"});
  database.settings().migrations.push_back({4, "oven", "ALTER TABLE dish ADD COLUMN oven TEXT;"});
  database.Open();
  EXPECT_FALSE(std::filesystem::exists(path + ".before-2"));
  EXPECT_TRUE(std::filesystem::exists(path + ".before-3"));
  EXPECT_FALSE(std::filesystem::exists(path + ".before-4"));
}

TEST(DbMigrate, TellsWhatItDoes) {
  TestDatabase database;
  database.Close();
  Names steps;
  database.settings().migrations = {kDishTable, kPrice};
  database.settings().upgrading = [&](const std::string& step) { steps.push_back(step); };
  database.Open();
  EXPECT_EQ(steps, (Names{"copy", "price", "check", "commit", "close"}));
  steps.clear();
  database.Close();
  database.Open();
  EXPECT_EQ(steps, Names{}) << "there is nothing to do";
}

constexpr Migration kLongStep = {2, "long", R"(
    CREATE TABLE counted (n INTEGER);
    INSERT INTO counted
    WITH RECURSIVE up (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < 200000)
    SELECT n FROM up;
  )"};

TEST(DbMigrate, IsTellingWhileAStepTakesLong) {
  TestDatabase database;
  database.Add("soup");
  database.Close();
  Names steps;
  database.settings().migrations = {kDishTable, kLongStep};
  database.settings().upgrading = [&](const std::string& step) {
    steps.push_back(step);
    database.clock.Advance(11'000);  // the next look at the clock finds it late
  };
  database.Open();
  EXPECT_GT(std::ranges::count(steps, "long"), 2);
}

TEST(DbMigrate, EndsWithWhatWhoeverIsToldThrowsAndTriesAgainLater) {
  struct Stop {};  // no exception of the standard library
  TestDatabase database;
  database.Add("soup");
  database.Close();
  database.settings().migrations = {kDishTable, kLongStep};
  for (const char* ends_in : {"copy", "long"}) {
    int told = 0;
    database.settings().upgrading = [&](const std::string& step) {
      database.clock.Advance(11'000);
      if (step == ends_in && ++told == 2) throw Stop();  // in the middle of it
    };
    EXPECT_THROW(database.Open(), Stop) << ends_in;
    EXPECT_EQ(told, 2) << ends_in;
  }
  EXPECT_FALSE(std::filesystem::exists(database.settings().path + ".before-2.unfinished"));
  database.settings().upgrading = {};
  database.Open();
  EXPECT_EQ(database.Names(), Names{"soup"});
}

// How many bytes SQLite may have in this process, until the end of a test.
class HeapLimit {
 public:
  explicit HeapLimit(int64_t bytes) : before_(sqlite3_hard_heap_limit64(bytes)) {}
  ~HeapLimit() { sqlite3_hard_heap_limit64(before_); }
  HeapLimit(const HeapLimit&) = delete;

 private:
  const int64_t before_;
};

constexpr Migration kManyDishes = {2, "many", R"(
  INSERT INTO dish (name)
  WITH RECURSIVE up (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < 300000)
  SELECT hex(n * 7919 % 1000003) || 'a name that is long enough to make rows that memory cannot hold'
  FROM up;
)"};

TEST(DbMigrate, SortsMoreThanThereIsMemory) {
  TestDatabase database(Settings{.migrations = {kDishTable, kManyDishes}});
  database.Close();
  database.settings().migrations.push_back({3, "sorted", "CREATE INDEX dishes ON dish (name);"});
  const std::string leftover = database.directory / "etilqs_0123456789abcdef";  // killed in between
  fclose(fopen(leftover.c_str(), "w"));
  const HeapLimit limit(24 << 20);  // the names alone are as much
  database.Open();
  for (const auto& entry : std::filesystem::directory_iterator(database.directory.path())) {
    EXPECT_TRUE(entry.path().filename().string().starts_with("live.db")) << entry.path();
  }
}

TEST(DbMigrate, SortsInMemoryAfterwards) {
  TestDatabase database;
  database.Close();
  database.settings().migrations = {kDishTable, kPrice};
  database.Open();
  database->Write(
      [](Tx& tx, const Stamp&) { EXPECT_EQ(tx.GetInt("PRAGMA temp_store"), 2) << "MEMORY"; });
  EXPECT_EQ(sqlite3_temp_directory, nullptr);
}

TEST(DbMigrate, RefusesToLeaveRowsThatPointAtNothing) {
  TestDatabase database;
  database.Close();
  database.settings().migrations = {kDishTable, kPrice, kDangling};
  ExpectContains(WhyItFails(database), "rows of line point at nothing");
}

TEST(DbMigrate, ChecksForeignKeysAgainAfterwards) {
  constexpr Migration kKeys = {1, "keys", R"(
    CREATE TABLE menu (id INTEGER PRIMARY KEY) STRICT;
    CREATE TABLE line (menu INTEGER REFERENCES menu (id)) STRICT;
  )"};
  TestDatabase database(Settings{.migrations = {kKeys}});
  EXPECT_THROW(database->Write([](Tx& tx, const Stamp&) { tx.Run("INSERT INTO line VALUES (7)"); }),
               Fault);
}

TEST(DbMigrate, RefusesAFileOfANewerProgram) {
  TestDatabase database(Settings{.migrations = {kDishTable, kPrice}});
  database.Close();
  database.settings().migrations = {kDishTable};
  const std::string why = WhyItFails(database);
  ExpectContains(why, "schema version 2");
  ExpectContains(why, "newer program");
}

TEST(DbMigrate, RefusesAFileOfAnotherProgram) {
  TestDatabase database;
  database.Close();
  database.settings().path = database.directory / "other.db";
  Execute(database.settings().path, "CREATE TABLE theirs (id INTEGER)");
  ExpectContains(WhyItFails(database), "another program");
}

TEST(DbMigrate, RefusesAFileThatIsNoDatabase) {
  TestDatabase database;
  database.Close();
  database.settings().path = database.directory / "text.db";
  FILE* file = fopen(database.settings().path.c_str(), "w");
  ASSERT_TRUE(file);
  fputs(std::string(9000, 'x').c_str(), file);
  fclose(file);
  ExpectContains(WhyItFails(database), "not a database");
}

}  // namespace
}  // namespace comanda::db
