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
        ClauseBuilder sql("SELECT $1 WHERE 1", {round});
        sql.And("7 NOT IN ({})", std::vector<Bound>(static_cast<size_t>(i + 1), Bound(5)));
        Rows rows = session.QueryBound(sql);
        ASSERT_TRUE(rows.Next());
        EXPECT_EQ(rows.Int(0), round);
      }
    }
  });
}

// What a session takes as a statement.
template <typename S, typename Text>
concept TakesAsQuery = requires(S& session, Text text) {
  session.Query(text);
};
template <typename S, typename Text>
concept TakesAsOne = requires(S& session, Text text) {
  session.One(text);
};
template <typename S, typename Text>
concept TakesAsRun = requires(S& session, Text text) {
  session.Run(text);
};
template <typename S, typename Text>
concept TakesAsBound = requires(S& session, Text text) {
  session.QueryBound(text);
};

template <typename Text>
constexpr bool kIsTaken = TakesAsQuery<Session, Text> || TakesAsOne<Session, Text> ||
                          TakesAsRun<Tx, Text> || TakesAsBound<Session, Text>;

TEST(DbSession, TakesNoTextOfTheRunTimeAsSql) {
  static_assert(TakesAsQuery<Session, Sql> && TakesAsOne<Session, Sql> && TakesAsRun<Tx, Sql>);
  static_assert(TakesAsBound<Session, const ClauseBuilder&>);
  static_assert(!kIsTaken<std::string> && !kIsTaken<const std::string&>);
  static_assert(!kIsTaken<std::string_view> && !kIsTaken<const char*> && !kIsTaken<char*>);
  static_assert(!kIsTaken<char(&)[9]>, "an array that can be written to");
  static_assert(!std::is_constructible_v<Sql, std::string_view>);
  static_assert(!std::is_constructible_v<ClauseBuilder, std::string, std::vector<Bound>>);
  static_assert(!std::is_invocable_v<decltype(static_cast<ClauseBuilder& (ClauseBuilder::*)(Sql)>(
                                         &ClauseBuilder::OrderBy)),
                                     ClauseBuilder&, std::string>);
}

TEST(DbSession, TakesDoubleQuotesForNamesOnly) {
  TestDatabase database;
  EXPECT_THROW(database->Read([](Snapshot& s) { s.One("SELECT \"text\""); }), Fault);
}

}  // namespace
}  // namespace comanda::db
