// One bit of a database file flips: what PRAGMA integrity_check would find is found table by table,
// an index that disagrees with its table is made again, and a malformed page ends writing.

#include "integrity/checker.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <thread>

#include "base/id.h"
#include "base/problem.h"
#include "company/companies.h"
#include "db/sqlite/file_watcher.h"
#include "integrity/file.h"
#include "orders/orders.h"
#include "support/restaurant_database.h"
#include "support/waiting.h"

namespace comanda::integrity {
namespace {

using testing::kCompany;
using testing::RestaurantDatabase;
using testing::TestDatabase;

constexpr int kRows = 700;
constexpr int kPageBytes = 1024;
constexpr int64_t kEnoughMs = 60'000;

constexpr std::string_view kSales =
    "CREATE TABLE sale (company INTEGER NOT NULL, id TEXT NOT NULL, at INTEGER, note TEXT,"
    "  status INTEGER NOT NULL, PRIMARY KEY (company, id)) STRICT;"
    "CREATE INDEX sale_at ON sale(company, at, id);"
    "CREATE INDEX sale_note ON sale(company, note, at);"
    "CREATE UNIQUE INDEX sale_noted ON sale(company, note) WHERE note IS NOT NULL;"
    "CREATE INDEX sale_open ON sale(company, at) WHERE status < 2;"
    "CREATE TABLE person (company INTEGER NOT NULL, id TEXT NOT NULL, name TEXT, phone TEXT,"
    "  PRIMARY KEY (company, id)) STRICT, WITHOUT ROWID;"
    "CREATE INDEX person_name ON person(company, name);"
    "CREATE UNIQUE INDEX person_phone ON person(company, phone) WHERE phone IS NOT NULL;";

// The tables of a restaurant, whose rows a round goes through, and those two.
db::Settings WithSales() {
  db::Settings settings = testing::RestaurantSettings();
  settings.migrations.push_back(
      {static_cast<int>(settings.migrations.size()) + 1, "sales", kSales});
  return settings;
}

db::SpaceSettings NoSpaceIsKept(const TestDatabase& database) {
  return {.directory = database.directory.path()};
}

// A database and its background check.
class Checked : public RestaurantDatabase {
 public:
  Checked() : RestaurantDatabase(WithSales()) {}

  Checker& checker() {
    if (!checker_) checker_.emplace("live.db", **this, space_, clock);
    return *checker_;
  }
  // As the worker does.
  void CheckAll() {
    const int64_t before = checker().rounds();
    clock.Advance(Checker::kEveryMs);
    while (checker().rounds() == before) {
      checker().DoPart([] {});
      clock.Advance(1'000);
    }
  }
  // Goes on with a new process.
  void Restart() {
    checker_.reset();
    Close();
    Open();
  }
  bool IsSound() {
    return db::FileWatcher((*this)->settings(), SystemClock()).CheckFile().is_sound();
  }
  int64_t Reindexed() const { return Metric("comanda_db_indexes_rebuilt_total"); }

 private:
  db::DiskSpace space_{NoSpaceIsKept(*this), registry};
  std::optional<Checker> checker_;
};

std::string Number(int n) { return std::to_string(100'000 + n); }

// Rows whose columns are null in part, and equal in part.
void Fill(TestDatabase& database) {
  database->Write([](db::Tx& tx, const db::Stamp&) {
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
  // Pages that nothing uses harm nothing.
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

// As the background check finds it, table by table.
Findings InAllTables(const std::string& path, const Clock& clock) {
  Findings all;
  db::FileWatcher watcher(path, clock);
  std::vector<std::string> tables = watcher.Tables();
  tables.emplace_back("sqlite_schema");
  for (const std::string& table : tables) {
    for (Finding& one : CheckTable(watcher, table)) all.push_back(std::move(one));
  }
  return all;
}

TEST(IntegrityFile, FindsWhateverTheIntegrityCheckFinds) {
  TestDatabase database(db::Settings{.migrations = {{1, "sales", kSales}}});
  Fill(database);
  const std::string path = database.settings().path;
  EXPECT_TRUE(InAllTables(path, database.clock).empty());
  database.Close();
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
    bool is_found = false;
    try {
      is_found = !InAllTables(path, database.clock).empty();
    } catch (const Fault&) {  // the schema, which is read when the file is opened
      is_found = true;
    }
    EXPECT_EQ(is_found, !integrity.empty())
        << "byte " << byte << " bit " << bit << ": " << integrity;
    found += is_found;
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

bool IsAboutAnIndex(const std::string& path) {
  return Integrity(path).find("missing from index") != std::string::npos;
}

void ChangeTheSale(TestDatabase& database) {
  database->Write([](db::Tx& tx, const db::Stamp& stamp) {
    tx.Run("UPDATE sale SET at = $2 WHERE company = 1 AND note = $1",
           "note " + Number(1 * 7919 % 1009 + 2000), stamp.now);
  });
}

void ChangeThePerson(TestDatabase& database) {
  database->Write([](db::Tx& tx, const db::Stamp&) {
    tx.Run("INSERT INTO person (company, id) VALUES (3, 'person')");
  });
}

class IntegrityChecker : public ::testing::TestWithParam<int> {};

TEST_P(IntegrityChecker, MakesAnIndexAgainBeforeTheDatabaseIsServed) {
  Checked database;
  const std::string path = database.settings().path;
  if (!FillAndFlip(database, GetParam()) || !IsAboutAnIndex(path)) return;
  database.Open();
  database.checker().CheckBeforeServing(kEnoughMs);
  EXPECT_GT(database.Reindexed(), 0);
  EXPECT_TRUE(database.IsSound());
  ChangeTheSale(database);
  EXPECT_TRUE(database->health().writable);
}

TEST_P(IntegrityChecker, MakesAnIndexAgainWhileTheDatabaseIsServed) {
  Checked database;
  const std::string path = database.settings().path;
  if (!FillAndFlip(database, GetParam()) || !IsAboutAnIndex(path)) return;
  database.Open();
  database.CheckAll();
  EXPECT_GT(database.Reindexed(), 0);
  ChangeTheSale(database);
  EXPECT_TRUE(database->health().writable);
  EXPECT_EQ(database->damaged_rows().count(), 0);
  database.Close();
  EXPECT_EQ(Integrity(path), "");
}

// The job that meets the damage fails alone, and is right when it is sent again.
TEST_P(IntegrityChecker, ChecksAtOnceWhatAJobHasMet) {
  Checked database;
  const std::string path = database.settings().path;
  if (!FillAndFlip(database, GetParam()) || !IsAboutAnIndex(path)) return;
  database.Open();
  bool has_failed = false;
  try {
    ChangeTheSale(database);
  } catch (const Fault&) {
    has_failed = true;
  }
  EXPECT_TRUE(database->health().writable);
  if (!has_failed) return;
  // Else the tables would be checked a day later.
  database.checker();
  for (int i = 0; i < 1'000 && database.Reindexed() == 0; ++i) database.checker().DoPart([] {});
  EXPECT_GT(database.Reindexed(), 0);
  ChangeTheSale(database);
}

INSTANTIATE_TEST_SUITE_P(Occurrence, IntegrityChecker, ::testing::Range(0, 6));

// REINDEX would free the pages of the index with whatever they refer to, which may be pages of a
// table.
TEST(IntegrityChecker, WritesNoMoreBesideAMalformedIndex) {
  Checked database;
  Fill(database);
  const int64_t root = database->Read([](db::Snapshot& snapshot) {
    return snapshot.GetInt("SELECT rootpage FROM sqlite_schema WHERE name = 'sale_note'");
  });
  database.Close();
  const std::string path = database.settings().path;
  // In the root page, which is no leaf: its first pointer to a cell (sqlite.org/fileformat2.html).
  constexpr size_t kHeadBytes = 12;
  Flip(path, static_cast<size_t>(root - 1) * kPageBytes + kHeadBytes, 2);
  ASSERT_NE(Integrity(path), "");
  database.Open();
  database.checker().CheckBeforeServing(kEnoughMs);
  EXPECT_EQ(database->health().reason, "damaged: comanda verify --repair");
  EXPECT_EQ(database.Metric("comanda_db_read_only"), 1);
  EXPECT_EQ(database.Reindexed(), 0);
  EXPECT_THROW(ChangeTheSale(database), Fault);
  EXPECT_EQ(database->Read([](db::Snapshot& snapshot) {
    return snapshot.GetInt("SELECT count(*) FROM sale NOT INDEXED");
  }),
            kRows)
      << "reads go on";
}

TEST(IntegrityChecker, NotesAValueThatItsColumnMayNotHave) {
  Checked database;
  Fill(database);
  database.Close();
  const std::string path = database.settings().path;
  sqlite3* handle = nullptr;
  sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE, nullptr);
  sqlite3_exec(handle,
               "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, "
               "'status INTEGER NOT NULL', 'status INTEGER') WHERE name = 'sale'",
               nullptr, nullptr, nullptr);
  sqlite3_close(handle);
  sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE, nullptr);
  sqlite3_exec(handle,
               "UPDATE sale SET status = NULL WHERE rowid = 7; PRAGMA writable_schema = ON; "
               "UPDATE sqlite_schema SET sql = replace(sql, 'status INTEGER', "
               "'status INTEGER NOT NULL') WHERE name = 'sale'",
               nullptr, nullptr, nullptr);
  sqlite3_close(handle);
  database.Open();
  database.CheckAll();
  EXPECT_EQ(database->damaged_rows().count(), 1);
  EXPECT_NE(database->damaged_rows().First().find("NULL value in sale.status"), std::string::npos)
      << database->damaged_rows().First();
  EXPECT_TRUE(database->health().writable);
}

TEST(IntegrityChecker, ChecksALargeFileWhileItIsServed) {
  Checked database;
  Fill(database);
  database.checker().CheckBeforeServing(0);
  EXPECT_EQ(database.checker().rounds(), 0);
  while (database.checker().rounds() == 0) {
    database.checker().DoPart([] {});
    database.clock.Advance(1'000);
  }
  EXPECT_EQ(database->damaged_rows().Progress(), "all orders are checked");
}

// A checkpoint waits for a quarter of a second at most: the log starts over only where the check,
// which reads for longer, gives way.
TEST(IntegrityChecker, GivesWayToALogThatWaits) {
  Checked database;
  database->Write([](db::Tx& tx, const db::Stamp&) {
    tx.Run(
        "INSERT INTO sale (company, id, status) WITH RECURSIVE row(n) AS "
        "(SELECT 1 UNION ALL SELECT n + 1 FROM row WHERE n < 20000) SELECT 1, 'sale-' || n, 3 FROM "
        "row");
  });
  database.Restart();
  std::jthread till;
  int beats = 0;
  const auto beat = [&] {
    constexpr int kIsReading = 10;  // a part with so many is that of the sales
    if (++beats == kIsReading && !till.joinable()) {
      till = std::jthread([&] {
        database->Write([](db::Tx& tx, const db::Stamp&) {
          for (int i = 0; i < 26; ++i) {
            tx.Run("INSERT INTO person (company, id, name) VALUES (2, $1, $2)",
                   "person-" + std::to_string(i), std::string(1 << 20, 'x'));
          }
        });
      });
      ASSERT_TRUE(testing::Await([&] { return database->log_waits(); }));
    } else if (till.joinable()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  };
  for (int i = 0; i < 1'000 && database.checker().rounds() == 0; ++i) {
    beats = 0;
    database.checker().DoPart(beat);
    database.clock.Advance(1'000);
  }
  ASSERT_TRUE(till.joinable());
  till.join();
  ChangeThePerson(database);
  EXPECT_LT(database.Metric("comanda_db_wal_pages"), 1'000) << "the log has started over";
}

// The reference stands in the order's row and in the index that finds it: whichever bit of it
// flips, the index is made again or kept, and the retry of the creation makes no second order.
class IntegrityOrders : public ::testing::Test {
 protected:
  // The id of the order that was placed with that reference.
  std::string Place(const std::string& reference) {
    const orders::Placement placement{.id = NewId(database.clock.Now()),
                                      .public_numbers = orders::PublicNumbers(),
                                      .reference = reference,
                                      .fingerprint = "f",
                                      .actor = "key:till"};
    return database
        ->Write([&](db::Tx& tx, const db::Stamp& stamp) {
          return orders::Place(tx, company::Get(tx, kCompany), {}, placement, stamp);
        })
        .record.id;
  }

  int64_t Count() {
    return database->Read([](db::Snapshot& snapshot) {
      return snapshot.GetInt("SELECT count(*) FROM orders NOT INDEXED");
    });
  }

  Checked database;
};

TEST_F(IntegrityOrders, KeepsAnIndexThatKnowsWhatADamagedOrderWas) {
  const std::string wanted = "till-4-order-x";
  const std::string first = Place(wanted);
  for (int i = 0; i < 60; ++i)
    Place("till-" + std::to_string(i % 7) + "-order-" + std::to_string(i));
  const int64_t orders = Count();
  database.Close();
  const std::string path = database.settings().path;
  std::filesystem::copy_file(path, path + ".whole");
  int reindexed = 0;
  int kept = 0;
  for (int i = 0;; ++i) {
    // Each place of the reference, then each place of the id.
    const int references = 2;
    const size_t at = i < references ? Find(path, wanted, i) : Find(path, first, i - references);
    if (at == std::string::npos) break;
    Flip(path, at + 5, 0);
    const bool disagrees = IsAboutAnIndex(path);
    database.Restart();
    database.checker().CheckBeforeServing(kEnoughMs);
    if (disagrees && database->damaged_rows().count() > 0) {
      ++kept;
      EXPECT_FALSE(database.IsSound());
    } else if (disagrees) {
      ++reindexed;
      EXPECT_TRUE(database.IsSound());
    }
    try {
      EXPECT_EQ(Place(wanted), first);
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.kind, Fault::Kind::kDamaged) << fault.cause;
    }
    EXPECT_EQ(Count(), orders);
    EXPECT_EQ(database->Read([&](db::Snapshot& snapshot) {
      return snapshot.GetInt("SELECT count(*) FROM orders WHERE company_id = 1 AND id = $1", first);
    }),
              1)
        << "the damaged order is still found";
    database.Close();
    for (const char* companion : {"-wal", "-shm"}) std::filesystem::remove(path + companion);
    std::filesystem::copy_file(path + ".whole", path,
                               std::filesystem::copy_options::overwrite_existing);
  }
  EXPECT_GT(reindexed, 0);
  EXPECT_GT(kept, 0);
}

}  // namespace
}  // namespace comanda::integrity
