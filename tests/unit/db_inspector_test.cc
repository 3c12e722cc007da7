// One bit of a database file flips: what PRAGMA integrity_check would find is found in pieces, and
// an index that disagrees with its table is rebuilt.

#include "db/inspector.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "base/time/clock.h"
#include "base/problem.h"
#include "db/sqlite/backup.h"
#include "db/watcher.h"
#include "support/test_database.h"
#include "support/waiting.h"

namespace comanda::db {
namespace {

using testing::TestDatabase;

constexpr int kRows = 700;  // some pieces
constexpr int kPageBytes = 1024;

constexpr Migration kTables = {
    1, "tables",
    "CREATE TABLE sale (company INTEGER NOT NULL, id TEXT NOT NULL, at INTEGER, note TEXT,"
    "  status INTEGER NOT NULL, PRIMARY KEY (company, id)) STRICT;"
    "CREATE INDEX sale_at ON sale(company, at, id);"
    "CREATE INDEX sale_note ON sale(company, note, at);"
    "CREATE UNIQUE INDEX sale_noted ON sale(company, note) WHERE note IS NOT NULL;"
    "CREATE INDEX sale_open ON sale(company, at) WHERE status < 2;"
    "CREATE TABLE person (company INTEGER NOT NULL, id TEXT NOT NULL, name TEXT, phone TEXT,"
    "  PRIMARY KEY (company, id)) STRICT, WITHOUT ROWID;"
    "CREATE INDEX person_name ON person(company, name);"
    "CREATE UNIQUE INDEX person_phone ON person(company, phone) WHERE phone IS NOT NULL;"};

std::string Number(int n) { return std::to_string(100'000 + n); }

// Rows whose columns are null in part, and equal in part.
void Fill(TestDatabase& database) {
  database->Write([](Tx& tx, const Stamp&) {
    for (int i = 0; i < kRows; ++i) {
      std::optional<int64_t> at;
      std::optional<std::string> note;
      if (i % 3 != 0) at = i * 7919 % 200;
      if (i % 2 != 0) note = "note " + Number(i * 7919 % 1009 + 2000 * i);
      tx.Run("INSERT INTO sale (company, id, at, note, status) VALUES (1, $1, $2, $3, $4)",
             "sale-" + Number(i * 7919 % 10007), at, note, i % 4);
      tx.Run("INSERT INTO person (company, id, name, phone) VALUES (1, $1, $2, $3)",
             "person-" + Number(i * 7919 % 10007),
             i % 5 == 0 ? std::optional<std::string>() : "Ana",
             i % 3 == 0 ? std::optional<std::string>() : Number(i));
    }
  });
}

// As SQLite itself judges, with the file closed.
std::string Integrity(const std::string& path) {
  sqlite3* handle = nullptr;
  sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE, nullptr);
  std::string found;
  sqlite3_exec(
      handle, "PRAGMA integrity_check",
      [](void* text, int, char** values, char**) {
        *static_cast<std::string*>(text) += std::string(values[0] ? values[0] : "") + "\n";
        return 0;
      },
      &found, nullptr);
  sqlite3_close(handle);
  if (found == "ok\n") return "";
  if (found.empty()) return "cannot be read";
  // Pages that nothing uses harm nothing: an index that was rebuilt leaves them.
  std::string harmful;
  std::istringstream lines(found);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(": never used") || line.starts_with("*** in database")) continue;
    harmful += line + "\n";
  }
  return harmful;
}

void Flip(const std::string& path, size_t byte, int bit) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(byte));
  const char value = static_cast<char>(file.get() ^ (1 << bit));
  file.seekp(static_cast<std::streamoff>(byte));
  file.put(value);
}

TEST(DbInspector, FindsWhateverTheIntegrityCheckFinds) {
  TestDatabase database(Settings{.migrations = {kTables}});
  Fill(database);
  EXPECT_EQ(database->Inspect(), "");
  database.Close();
  const std::string path = database.settings().path;
  std::filesystem::copy_file(path, path + ".whole");
  const size_t bytes = std::filesystem::file_size(path);
  std::mt19937 chance(20261122);
  int found = 0;
  for (int i = 0; i < 300; ++i) {
    // Not in the first page, whose head is read in other ways.
    const size_t byte = std::uniform_int_distribution<size_t>(kPageBytes, bytes - 1)(chance);
    const int bit = std::uniform_int_distribution<int>(0, 7)(chance);
    Flip(path, byte, bit);
    const std::string integrity = Integrity(path);
    std::string inspected;
    try {
      database.Open();
      inspected = database->Inspect();
    } catch (const Fault& fault) {  // the schema, which is read when the file is opened
      inspected = fault.cause;
    }
    if (!integrity.empty()) {
      EXPECT_NE(inspected, "") << "byte " << byte << " bit " << bit << ": " << integrity;
      ++found;
    } else {
      EXPECT_EQ(inspected, "") << "byte " << byte << " bit " << bit;
    }
    database.Close();
    std::filesystem::copy_file(path + ".whole", path,
                               std::filesystem::copy_options::overwrite_existing);
  }
  EXPECT_GT(found, 50);
}

// The byte of a text in the file's pages of an index.
size_t Find(const std::string& path, const std::string& text, int occurrence) {
  std::ifstream file(path, std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
  size_t at = content.find(text);
  while (at != content.npos && occurrence-- > 0) at = content.find(text, at + 1);
  return at;
}

// Flips a bit of a sale's id, which stands in the table and in its indexes, one after the other in
// the file. False where it stands fewer times. Leaves the database closed.
bool FillAndFlip(TestDatabase& database, int occurrence) {
  Fill(database);
  database.Close();
  const std::string path = database.settings().path;
  const size_t at = Find(path, "sale-" + Number(7919), occurrence);
  if (at == std::string::npos) return false;
  Flip(path, at + 7, 0);
  return true;
}

class DbInspectorMends : public ::testing::TestWithParam<int> {};

TEST_P(DbInspectorMends, RebuildsAnIndexInTheBackgroundAndForAJob) {
  for (const bool in_background : {true, false}) {
    TestDatabase database(Settings{.migrations = {kTables}});
    const std::string path = database.settings().path;
    if (!FillAndFlip(database, GetParam())) return;
    const bool only_indexes = Integrity(path).find("missing from index") != std::string::npos;
    database.Open();
    if (in_background) database->StartInspector();
    const auto change = [](Tx& tx, const Stamp& stamp) {
      tx.Run("UPDATE sale SET at = $2 WHERE company = 1 AND note = $1",
             "note " + Number(1 * 7919 % 1009 + 2000), stamp.now);
    };
    if (!in_background) {
      for (int i = 0; i < 3; ++i) database->Write(change);
    } else if (only_indexes) {
      ASSERT_TRUE(
          testing::Await([&] { return database.Metric("comanda_db_indexes_rebuilt_total") > 0; }));
      ASSERT_TRUE(testing::Await([&] { return database->Inspect().empty(); }));
    }
    EXPECT_TRUE(database->health().writable);
    database->Write(change);
    database.Close();
    if (in_background) {
      EXPECT_EQ(Integrity(path), "");
    }
  }
}

TEST_P(DbInspectorMends, RebuildsAnIndexBeforeTheDatabaseIsServed) {
  TestDatabase database(Settings{.migrations = {kTables}, .check_first = {"sale"}});
  const std::string path = database.settings().path;
  if (!FillAndFlip(database, GetParam())) return;
  if (Integrity(path).find("missing from index") == std::string::npos) return;
  database.Open();
  EXPECT_EQ(database->rounds_of_inspection(), 0);
  database->CheckBeforeServing(60'000);
  EXPECT_EQ(database->rounds_of_inspection(), 1);
  EXPECT_GT(database.Metric("comanda_db_indexes_rebuilt_total"), 0);
  EXPECT_EQ(database->Inspect(), "");
}

// The bytes of the root page of an index, and the number of the page that is there.
int64_t RootPage(Database& database, std::string_view index) {
  return database.Read([&](Snapshot& snapshot) {
    return snapshot.GetInt("SELECT rootpage FROM sqlite_schema WHERE name = $1", index);
  });
}

class DbInspectorReplaces : public ::testing::TestWithParam<const char*> {};

// What a malformed page refers to may be in use elsewhere: it is not freed.
TEST_P(DbInspectorReplaces, AnIndexWhosePagesAreMalformed) {
  for (const bool before_serving : {true, false}) {
    // In the background it is looked at again for seconds.
    if (!before_serving && GetParam() != std::string("sale_note")) continue;
    TestDatabase database(Settings{.migrations = {kTables}});
    Fill(database);
    const int64_t root = RootPage(*database, GetParam());
    database.Close();
    const std::string path = database.settings().path;
    // In the root page, which is no leaf: its first pointer to a cell
    // (sqlite.org/fileformat2.html).
    constexpr size_t kHeadBytes = 12;
    Flip(path, static_cast<size_t>(root - 1) * kPageBytes + kHeadBytes, 2);
    ASSERT_NE(Integrity(path), "");
    database.Open();
    if (before_serving) {
      database->CheckBeforeServing(60'000);
    } else {
      database->StartInspector();
    }
    ASSERT_TRUE(
        testing::Await([&] { return database.Metric("comanda_db_indexes_rebuilt_total") > 0; }));
    EXPECT_NE(RootPage(*database, GetParam()), root);
    EXPECT_EQ(database->Inspect(), "");
    EXPECT_TRUE(database->health().writable);
    database->Write([](Tx& tx, const Stamp&) {
      EXPECT_EQ(tx.Run("UPDATE sale SET at = 7, note = NULL WHERE at IS NOT NULL"),
                kRows - (kRows + 2) / 3);
      tx.Run("UPDATE person SET phone = NULL, name = 'Eva'");
    });
    EXPECT_EQ(database->Watch()->IntegrityCheck(), "");
    const std::string copy = path + ".backup";
    BackUp(path, copy, database.clock);
    database.Close();
    EXPECT_EQ(Integrity(copy).find("index"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(Index, DbInspectorReplaces,
                         ::testing::Values("sqlite_autoindex_sale_1", "sale_note", "sale_noted",
                                           "person_name"));

// Where the cells of a page are, each of two bytes (sqlite.org/fileformat2.html section 1.6), of
// the pages of indexes. A table with rowids has no such page of its own.
std::vector<size_t> CellPointers(const std::string& path) {
  constexpr unsigned char kInterior = 0x02;
  constexpr unsigned char kLeaf = 0x0a;
  std::ifstream file(path, std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(content[at]); };
  std::vector<size_t> pointers;
  for (size_t page = kPageBytes; page < content.size(); page += kPageBytes) {
    if (byte(page) != kInterior && byte(page) != kLeaf) continue;
    const size_t first = page + (byte(page) == kInterior ? 12 : 8);
    const size_t cells = byte(page + 3) * 256U + byte(page + 4);
    for (size_t i = 0; i < cells * 2; ++i) pointers.push_back(first + i);
  }
  return pointers;
}

// SQLite's own check ends at some of them before it has named the index.
TEST(DbInspector, RebuildsAnIndexWhicheverOfItsPointersIsDamaged) {
  constexpr Migration kRowids = {
      1, "rowids",
      "CREATE TABLE sale (id INTEGER PRIMARY KEY, at INTEGER, note TEXT) STRICT;"
      "CREATE INDEX sale_at ON sale(at, id); CREATE INDEX sale_note ON sale(note, at);"
      "CREATE INDEX sale_noted ON sale(note) WHERE note IS NOT NULL;"
      "CREATE INDEX sale_short ON sale(substr(note, 1, 9), id);"};
  TestDatabase database(Settings{.migrations = {kRowids}});
  database->Write([](Tx& tx, const Stamp&) {
    for (int i = 0; i < kRows; ++i) {
      std::optional<std::string> note;
      if (i % 2 != 0) note = "note " + Number(i * 7919 % 1009) + std::string(i % 40, 'x');
      tx.Run("INSERT INTO sale (id, at, note) VALUES ($1, $2, $3)", i, i * 7919 % 200, note);
    }
  });
  database.Close();
  const std::string path = database.settings().path;
  std::filesystem::copy_file(path, path + ".whole");
  const std::vector<size_t> pointers = CellPointers(path);
  ASSERT_GT(pointers.size(), 1'000);
  std::mt19937 chance(20261124);
  for (int i = 0; i < 400; ++i) {
    const size_t byte = pointers[chance() % pointers.size()];
    const int bit = static_cast<int>(chance() % 8);
    Flip(path, byte, bit);
    ASSERT_NE(Integrity(path), "");
    database.Open();
    database->CheckBeforeServing(60'000);
    EXPECT_EQ(database->Inspect(), "") << "byte " << byte << " bit " << bit;
    database.Close();
    std::filesystem::copy_file(path + ".whole", path,
                               std::filesystem::copy_options::overwrite_existing);
  }
}

TEST(DbInspector, LooksAtALargeFileInTheBackgroundWhereTheTimeBeforeServingIsUp) {
  TestDatabase database(Settings{.migrations = {kTables}});
  Fill(database);
  database->CheckBeforeServing(0);
  EXPECT_EQ(database->rounds_of_inspection(), 0);
  database->StartInspector();
  ASSERT_TRUE(testing::Await([&] { return database->rounds_of_inspection() == 1; }));
}

TEST(DbInspector, GivesWayToALogThatWaits) {
  constexpr int kTimes = 3;
  TestDatabase database(Settings{.migrations = {kTables}});
  database->Write([](Tx& tx, const Stamp&) {
    tx.Run(
        "INSERT INTO sale (company, id, status) WITH RECURSIVE row(n) AS "
        "(SELECT 1 UNION ALL SELECT n + 1 FROM row WHERE n < 20000) SELECT 1, 'sale-' || n, 3 FROM "
        "row");
  });
  std::atomic<int> asked = 0;
  const Settings settings{.path = database.settings().path,
                          .log_waits = [&] { return asked++ < kTimes; }};
  Inspector inspector(settings, database.clock, {});
  inspector.Start();
  ASSERT_TRUE(testing::Await([&] { return inspector.rounds() == 1; }));
  EXPECT_GT(asked, kTimes) << "it has begun again each time";
}

INSTANTIATE_TEST_SUITE_P(Occurrence, DbInspectorMends, ::testing::Range(0, 3));

}  // namespace
}  // namespace comanda::db
