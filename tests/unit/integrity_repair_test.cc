// Whatever happens to the pages of indexes: a repair gives back every row. What happens to those of
// a table is refused, or no row is missing.

#include "integrity/repair.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "base/problem.h"
#include "db/sqlite/file_watcher.h"
#include "support/restaurant_database.h"

namespace comanda::integrity {
namespace {

using testing::RestaurantDatabase;
using testing::TestDatabase;

constexpr int kRows = 700;
constexpr size_t kPageBytes = 1024;
constexpr int64_t kNewer = 99;  // a schema: the rows are not judged

// A table with a rowid, so that the kind of a page says whether it is of the table or of an index.
constexpr std::string_view kSales =
    "CREATE TABLE sale (company INTEGER NOT NULL, id TEXT NOT NULL, at INTEGER, note TEXT,"
    "  PRIMARY KEY (company, id)) STRICT;"
    "CREATE INDEX sale_at ON sale(company, at, id);"
    "CREATE INDEX sale_note ON sale(company, note, at) WHERE note IS NOT NULL;"
    "CREATE UNIQUE INDEX sale_noted ON sale(company, note);";

using Bytes = std::string;

Bytes Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

void Write(const std::string& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::vector<std::string> RowsIn(const std::string& path, const Clock& clock) {
  db::FileWatcher watcher = db::FileWatcher::OfFrozen(path, clock);
  return watcher.Read([](db::Snapshot& snapshot) {
    return snapshot.FindTexts(
        "SELECT company || '|' || id || '|' || coalesce(at, 'null') || '|' || coalesce(note, "
        "'null') FROM sale NOT INDEXED");
  });
}

class IntegrityRepair : public ::testing::Test {
 protected:
  IntegrityRepair() {
    database_->Write([](db::Tx& tx, const db::Stamp&) {
      for (int i = 0; i < kRows; ++i) {
        std::optional<int64_t> at;
        if (i % 3 != 0) at = i * 7919 % 200;
        tx.Run("INSERT INTO sale (company, id, at, note) VALUES (1, $1, $2, $3)",
               "sale-" + std::to_string(100'000 + i * 7919 % 10'007), at,
               "note " + std::to_string(200'000 + i * 31 % 10'007));
      }
    });
    database_.Close();
    sound_ = Read(path_);
    rows_ = RowsIn(path_, database_.clock);
  }

  // The pages of indexes, or those of tables, by the kind that the first byte names (SQLite's file
  // format, section 1.6). Not the first page, which is the head of the file.
  std::vector<size_t> Pages(bool are_of_indexes) const {
    std::vector<size_t> pages;
    for (size_t page = 1; page < sound_.size() / kPageBytes; ++page) {
      const char kind = sound_[page * kPageBytes];
      const bool is_of_index = kind == 2 || kind == 10;
      const bool is_of_table = kind == 5 || kind == 13;
      if (are_of_indexes ? is_of_index : is_of_table) pages.push_back(page);
    }
    return pages;
  }

  // The rows of the sound copy; nothing where the repair is refused.
  std::optional<std::vector<std::string>> Repaired(const Bytes& damaged) {
    Write(path_, damaged);
    try {
      const auto report = MakeSoundCopy(path_, kNewer, database_.clock);
      EXPECT_TRUE(report.damage.empty());
    } catch (const Refusal& refusal) {
      why_ = refusal.detail;
      EXPECT_FALSE(std::filesystem::exists(RepairedPath(path_)));
      return std::nullopt;
    }
    EXPECT_TRUE(
        VerifyPages(RepairedPath(path_), FileState::kFrozen, database_.clock).damage.empty());
    return RowsIn(RepairedPath(path_), database_.clock);
  }

  TestDatabase database_{db::Settings{.migrations = {{1, "sales", kSales}}}};
  const std::string path_ = database_.settings().path;
  std::string why_;  // the last refusal
  Bytes sound_;
  std::vector<std::string> rows_;
};

TEST_F(IntegrityRepair, GivesBackEveryRowWhereAPageOfAnIndexIsOverwritten) {
  const std::vector<size_t> pages = Pages(true);
  ASSERT_GT(pages.size(), 50U);
  for (const size_t page : pages) {
    for (const char value : {'\0', '\xa5', '\xff'}) {
      Bytes damaged = sound_;
      std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(page * kPageBytes), kPageBytes,
                  value);
      const auto rows = Repaired(damaged);
      ASSERT_TRUE(rows) << "page " << page + 1 << ": " << why_;
      ASSERT_EQ(*rows, rows_) << "page " << page + 1;
    }
  }
}

TEST_F(IntegrityRepair, GivesBackEveryRowWhereABitOfAnIndexFlips) {
  std::mt19937 chance(20261128);
  const std::vector<size_t> pages = Pages(true);
  for (int i = 0; i < 300; ++i) {
    const size_t byte =
        pages[chance() % pages.size()] * kPageBytes + chance() % (i % 2 == 0 ? 24 : kPageBytes);
    Bytes damaged = sound_;
    damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << chance() % 8));
    const auto rows = Repaired(damaged);
    ASSERT_TRUE(rows) << "byte " << byte << ": " << why_;
    ASSERT_EQ(*rows, rows_) << "byte " << byte;
  }
}

TEST_F(IntegrityRepair, LosesNoRowWhereABitOfATableFlips) {
  std::mt19937 chance(20261129);
  const std::vector<size_t> pages = Pages(false);
  ASSERT_GT(pages.size(), 10U);
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    const size_t byte =
        pages[chance() % pages.size()] * kPageBytes + chance() % (i % 2 == 0 ? 24 : kPageBytes);
    Bytes damaged = sound_;
    damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << chance() % 8));
    const auto rows = Repaired(damaged);
    if (!rows) {
      ++refused;
    } else {
      ASSERT_EQ(rows->size(), rows_.size()) << "byte " << byte;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST_F(IntegrityRepair, RefusesATableWhosePageIsOverwritten) {
  for (const size_t page : Pages(false)) {
    for (const char value : {'\0', '\xa5'}) {
      Bytes damaged = sound_;
      std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(page * kPageBytes), kPageBytes,
                  value);
      ASSERT_FALSE(Repaired(damaged)) << "page " << page + 1;
    }
  }
}

TEST(IntegrityRepairs, ACopyIsADatabaseOfTheSameSchemaAndVersion) {
  RestaurantDatabase database;
  const std::string path = database.settings().path;
  const std::string taken = database.directory / "taken.db";
  // What a killed server leaves: the rows are in the log.
  for (const char* part : {"", "-wal"}) std::filesystem::copy_file(path + part, taken + part);
  const auto known = static_cast<int64_t>(database.settings().migrations.size());
  EXPECT_TRUE(MakeSoundCopy(taken, known, database.clock).damage.empty());
  const std::string copy = RepairedPath(taken);
  for (const char* companion : {"-wal", "-shm", "-journal"}) {
    EXPECT_FALSE(std::filesystem::exists(copy + companion)) << companion;
  }
  struct stat found = {};
  ASSERT_EQ(::stat(copy.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600U);
  const Bytes head = Read(copy).substr(0, 100);
  EXPECT_EQ(head.substr(18, 2), Bytes("\2\2", 2)) << "the log is a write-ahead log";
  EXPECT_EQ(head.substr(60, 4), Read(taken).substr(60, 4)) << "user_version";
  EXPECT_EQ(head.substr(68, 4), Read(taken).substr(68, 4)) << "application_id";
  const auto schema = [&](const std::string& file) {
    return db::FileWatcher::OfFrozen(file, database.clock).Read([](db::Snapshot& snapshot) {
      return snapshot.FindTexts(
          "SELECT type || name || coalesce(sql, '') FROM sqlite_schema ORDER BY type, name");
    });
  };
  EXPECT_EQ(schema(copy), schema(taken));
  db::Settings settings = testing::RestaurantSettings();
  settings.path = copy;
  TestDatabase opened(settings);
  EXPECT_EQ(opened->Read([](db::Snapshot& snapshot) {
    return snapshot.GetInt("SELECT count(*) FROM company");
  }),
            2);
}

TEST(IntegrityRepairs, AnInterruptedOneLeavesNothingToTheNext) {
  RestaurantDatabase database;
  const std::string path = database.settings().path;
  database.Close();
  for (const char* companion : {"", "-wal", "-journal"}) {
    Write(RepairedPath(path) + companion, "half a copy");
  }
  const auto known = static_cast<int64_t>(database.settings().migrations.size());
  EXPECT_TRUE(MakeSoundCopy(path, known, database.clock).damage.empty());
  RemoveUnfinishedRepair(path);
  EXPECT_FALSE(std::filesystem::exists(RepairedPath(path)));
  EXPECT_TRUE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace comanda::integrity
