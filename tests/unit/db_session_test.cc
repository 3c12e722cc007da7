#include "db/session.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/problem.h"
#include "support/test_database.h"

namespace comanda::db {
namespace {

using testing::TestDatabase;

TEST(DbSession, GivesBackTheKindsOfValuesThatWereBound) {
  TestDatabase database;
  database->Read([](Snapshot& session) {
    const std::optional<std::string> nothing;
    auto row = session.One("SELECT $1, $2, $3, $4, $5, $6", "text", int64_t{1} << 62, nullptr,
                           nothing, std::string_view{}, true);
    ASSERT_TRUE(row);
    EXPECT_EQ(row->Text(0), "text");
    EXPECT_EQ(row->Int(1), int64_t{1} << 62);
    EXPECT_TRUE(row->IsNull(2));
    EXPECT_EQ(row->OptionalText(3), std::nullopt);
    EXPECT_EQ(row->OptionalText(4), "") << "empty is not null";
    EXPECT_TRUE(row->Bool(5));
    EXPECT_EQ(row->OptionalInt(2), std::nullopt);
    EXPECT_EQ(row->OptionalInt(5), 1);
  });
}

TEST(DbSession, BindsByNameAndNotByTheOrderInTheSql) {
  TestDatabase database;
  database->Read([](Snapshot& session) {
    auto row = session.One("SELECT $2, $1, $2", "one", "two");
    EXPECT_EQ(row->Text(0), "two");
    EXPECT_EQ(row->Text(1), "one");
    EXPECT_EQ(row->Text(2), "two");
  });
}

TEST(DbSession, KeepsTemporariesForTheLengthOfAQuery) {
  TestDatabase database;
  database->Read([](Snapshot& session) {
    auto rows = session.Query("SELECT $1 UNION ALL SELECT $1", std::string(5000, 'x'));
    const std::string other(5000, 'y');
    while (rows.Next()) EXPECT_EQ(rows.View(0), std::string(5000, 'x'));
  });
}

TEST(DbSession, BindsNothingLeftFromTheLastUse) {
  TestDatabase database;
  database->Read([](Snapshot& session) {
    EXPECT_EQ(session.One("SELECT $1", "before")->Text(0), "before");
    EXPECT_TRUE(session.One("SELECT $1", nullptr)->IsNull(0));
  });
}

TEST(DbSession, RunsTheSameSqlInsideItself) {
  TestDatabase database;
  for (const char* name : {"a", "b", "c"}) database.Add(name);
  database->Read([](Snapshot& session) {
    std::string seen;
    for (auto outer = session.Query("SELECT name FROM dish ORDER BY id"); outer.Next();) {
      for (auto inner = session.Query("SELECT name FROM dish ORDER BY id"); inner.Next();) {
        seen += outer.Text(0) + inner.Text(0) + " ";
      }
    }
    EXPECT_EQ(seen, "aa ab ac ba bb bc ca cb cc ");
  });
}

TEST(DbSession, StaysBehindTheLastRow) {
  TestDatabase database;
  database->Read([](Snapshot& session) {
    auto rows = session.Query("SELECT 1");
    EXPECT_TRUE(rows.Next());
    EXPECT_FALSE(rows.Next());
    EXPECT_FALSE(rows.Next());
  });
}

TEST(DbSession, CountsTheRowsThatAStatementChanged) {
  TestDatabase database;
  for (const char* name : {"a", "b", "c"}) database.Add(name);
  database->Write([](Tx& tx, const Stamp&) {
    EXPECT_EQ(tx.Run("UPDATE dish SET at = $1 WHERE name > $2", 5, "a"), 2);
    EXPECT_EQ(tx.Run("DELETE FROM dish WHERE name = $1", "z"), 0);
    EXPECT_EQ(tx.Run("DELETE FROM dish WHERE at = 5 RETURNING id"), 2);
  });
}

TEST(DbSession, RefusesAWrongNumberOfValues) {
  TestDatabase database;
  EXPECT_THROW(database->Read([](Snapshot& s) { s.One("SELECT $1", 1, 2); }), Fault);
  EXPECT_THROW(database->Read([](Snapshot& s) { s.One("SELECT $1, $2", 1); }), Fault);
  EXPECT_THROW(database->Read([](Snapshot& s) { s.One("SELECT $2", 1, 2); }), Fault);
  EXPECT_THROW(database->Read([](Snapshot& s) { s.One("SELECT ?", 1); }), Fault);
}

TEST(DbSession, GoesOnWithMoreKindsOfSqlThanItKeeps) {
  TestDatabase database;
  database->Read([](Snapshot& session) {
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < 300; ++i) {
        const std::string sql = "SELECT $1 + " + std::to_string(i);
        EXPECT_EQ(session.One(sql, round)->Int(0), round + i);
      }
    }
  });
}

TEST(DbSession, TakesDoubleQuotesForNamesOnly) {
  TestDatabase database;
  EXPECT_THROW(database->Read([](Snapshot& s) { s.One("SELECT \"text\""); }), Fault);
}

}  // namespace
}  // namespace comanda::db
