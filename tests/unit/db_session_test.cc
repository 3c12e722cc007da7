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
  static constexpr Sql kSelect =
      "SELECT $1 AS text, $2 AS number, $3 AS none, $4 AS missing, $5 AS empty, $6 AS yes,"
      " $7 AS company";
  TestDatabase database;
  database->Read([](Snapshot& session) {
    const std::optional<std::string> nothing;
    const auto row = session.One<kSelect>("text", int64_t{1} << 62, nullptr, nothing,
                                          std::string_view{}, true, CompanyId{7});
    ASSERT_TRUE(row);
    EXPECT_EQ(row->Text("text"), "text");
    EXPECT_EQ(row->Int("number"), int64_t{1} << 62);
    EXPECT_TRUE(row->IsNull("none"));
    EXPECT_EQ(row->OptionalText("missing"), std::nullopt);
    EXPECT_EQ(row->OptionalText("empty"), "") << "empty is not null";
    EXPECT_TRUE(row->Bool("yes"));
    EXPECT_EQ(row->OptionalInt("none"), std::nullopt);
    EXPECT_EQ(row->OptionalInt("yes"), 1);
    EXPECT_EQ(row->Company("company"), CompanyId{7});
  });
}

TEST(DbSession, BindsByNameAndNotByTheOrderInTheSql) {
  static constexpr Sql kSelect = "SELECT $2 AS a, $1 AS b, $2 AS c";
  TestDatabase database;
  database->Read([](Snapshot& session) {
    const auto row = session.One<kSelect>("one", "two");
    EXPECT_EQ(row->Text("a"), "two");
    EXPECT_EQ(row->Text("b"), "one");
    EXPECT_EQ(row->Text("c"), "two");
  });
}

// A reader of any statement that returns a name and a number, in whatever order.
std::string Shown(const auto& row) { return row.Text("name") + std::to_string(row.Int("id")); }

TEST(DbSession, ReadsColumnsByTheirNamesInWhateverOrder) {
  static constexpr Sql kForward = "SELECT d.id, d.name FROM dish d";
  static constexpr Sql kBackward = R"sql(
      SELECT coalesce(d.name, ', FROM x') AS name, (SELECT max(id) FROM dish) AS last,
        d.id
      FROM dish AS d WHERE d.id = $1
      )sql";
  TestDatabase database;
  database.Add("soup");
  database->Read([](Snapshot& session) {
    EXPECT_EQ(Shown(*session.One<kForward>()), "soup1");
    EXPECT_EQ(Shown(*session.One<kBackward>(1)), "soup1");
    EXPECT_EQ(session.One<kBackward>(1)->Int("last"), 1);
    ClauseBuilder sql(kBackward, {1});
    auto rows = session.Query<kBackward>(sql);
    ASSERT_TRUE(rows.Next());
    EXPECT_EQ(Shown(rows), "soup1");
  });
}

TEST(DbColumns, AreNamedByTheirAliasesOrLastWords) {
  constexpr std::string_view kSql =
      "WITH x AS (SELECT a FROM b) SELECT o.id, name, sum(p, q) AS total, (SELECT 1 FROM t) AS one,"
      " 'a, b FROM c' AS text, o.id AS twice, count(*) FROM o";
  static_assert(columns::Find(kSql, "id") == 0);
  static_assert(columns::Find(kSql, "name") == 1);
  static_assert(columns::Find(kSql, "total") == 2);
  static_assert(columns::Find(kSql, "one") == 3);
  static_assert(columns::Find(kSql, "text") == 4);
  static_assert(columns::Find(kSql, "twice") == 5);
  static_assert(columns::Count(kSql) == 7);
  static_assert(columns::Find("INSERT INTO t (a) VALUES ($1) RETURNING b, a", "a") == 1);
  static_assert(columns::Find("SELECT $1 AS a", "a") == 0, "without FROM");
}

TEST(DbColumns, AreNotFoundWhereMissingDoubledOrNameless) {
  static_assert(columns::Find("SELECT id FROM t", "name") == -1);
  static_assert(columns::Find("SELECT a.id, b.id FROM t", "id") == -1, "which one?");
  static_assert(columns::Find("SELECT id AS name FROM t", "id") == -1, "the alias hides it");
  static_assert(columns::Find("SELECT count(*), max(id) FROM t", "id") == -1);
  static_assert(columns::Find("DELETE FROM t", "t") == -1);
}

TEST(DbSession, ReadsStatementsOfOneColumnWithoutItsName) {
  TestDatabase database;
  for (const char* name : {"a", "b"}) database.Add(name);
  database->Read([](Snapshot& s) {
    EXPECT_EQ(s.FindInt("SELECT id FROM dish WHERE name = $1", "b"), 2);
    EXPECT_EQ(s.FindInt("SELECT id FROM dish WHERE name = $1", "z"), std::nullopt);
    EXPECT_EQ(s.FindText("SELECT name FROM dish WHERE id = $1", 1), "a");
    EXPECT_EQ(s.FindText("SELECT name FROM dish WHERE id = $1", 9), std::nullopt);
    EXPECT_EQ(s.GetInt("SELECT count(*) FROM dish"), 2);
    EXPECT_EQ(s.FindTexts("SELECT name FROM dish ORDER BY id"),
              (std::vector<std::string>{"a", "b"}));
    EXPECT_TRUE(s.Exists("SELECT 1 FROM dish WHERE name = $1", "a"));
    EXPECT_FALSE(s.Exists("SELECT 1 FROM dish WHERE name = $1", "z"));
    EXPECT_EQ(s.GetInt(ClauseBuilder("SELECT count(*) FROM dish WHERE id > $1", {1})), 1);
    EXPECT_EQ(s.FindTexts(ClauseBuilder("SELECT name FROM dish WHERE id > $1", {1})).size(), 1u);
  });
}

TEST(DbSession, TakesAValueOfAnotherTypeForDamage) {
  static constexpr Sql kSelect = "SELECT 'x' AS text, 2 AS number, NULL AS none";
  TestDatabase database;
  database->Read([](Snapshot& session) {
    const auto row = session.One<kSelect>();
    EXPECT_THROW(row->Int("text"), Fault);
    EXPECT_THROW(row->Int("none"), Fault);
    EXPECT_THROW(row->Bool("number"), Fault);
    EXPECT_THROW(row->Text("number"), Fault);
    EXPECT_THROW(session.FindInt("SELECT NULL"), Fault);
    EXPECT_EQ(row->Text("none"), "");
  });
}

TEST(DbSession, KeepsTemporariesForTheLengthOfAQuery) {
  static constexpr Sql kSelect = "SELECT n.text FROM (SELECT $1 AS text UNION ALL SELECT $1) AS n";
  TestDatabase database;
  database->Read([](Snapshot& session) {
    auto rows = session.Query<kSelect>(std::string(5000, 'x'));
    const std::string other(5000, 'y');
    while (rows.Next()) EXPECT_EQ(rows.View("text"), std::string(5000, 'x'));
  });
}

// More statements than a connection keeps: that of the literal is finalized in between.
TEST(DbSession, FindsTheStatementOfALiteralAgainAndAgain) {
  TestDatabase database;
  database->Read([](Snapshot& session) {
    for (int64_t turn = 0; turn < 3; ++turn) {
      for (const int64_t value : {turn, turn + 1}) {
        EXPECT_EQ(session.GetInt("SELECT $1 + 40", value), value + 40);
      }
      std::vector<Bound> list;
      for (int64_t number = 0; number < 300; ++number) {
        list.emplace_back(number);
        ClauseBuilder sql("SELECT count(*) WHERE 1 = $1", {1});
        sql.And("$1 IN ({})", list);
        EXPECT_EQ(session.GetInt(sql), number >= 1 ? 1 : 0);
      }
    }
  });
}

TEST(DbSession, RunsALiteralThatIsRunningAlready) {
  static constexpr Sql kTwo = "SELECT n.a FROM (SELECT $1 AS a UNION ALL SELECT $1 + 1) AS n";
  TestDatabase database;
  database->Read([](Snapshot& session) {
    auto outer = session.Query<kTwo>(1);
    ASSERT_TRUE(outer.Next());
    auto inner = session.Query<kTwo>(10);
    ASSERT_TRUE(inner.Next() && inner.Next() && outer.Next());
    EXPECT_EQ(inner.Int("a"), 11);
    EXPECT_EQ(outer.Int("a"), 2);
  });
}

TEST(DbSession, BindsNothingLeftFromTheLastUse) {
  static constexpr Sql kSelect = "SELECT $1 AS text";
  TestDatabase database;
  database->Read([](Snapshot& session) {
    EXPECT_EQ(session.One<kSelect>("before")->Text("text"), "before");
    EXPECT_TRUE(session.One<kSelect>(nullptr)->IsNull("text"));
  });
}

TEST(DbSession, RunsTheSameSqlInsideItself) {
  static constexpr Sql kNames = "SELECT name FROM dish ORDER BY id";
  TestDatabase database;
  for (const char* name : {"a", "b", "c"}) database.Add(name);
  database->Read([](Snapshot& session) {
    std::string seen;
    for (auto outer = session.Query<kNames>(); outer.Next();) {
      for (auto inner = session.Query<kNames>(); inner.Next();) {
        seen += outer.Text("name") + inner.Text("name") + " ";
      }
    }
    EXPECT_EQ(seen, "aa ab ac ba bb bc ca cb cc ");
  });
}

TEST(DbSession, StaysBehindTheLastRow) {
  TestDatabase database;
  static constexpr Sql kOne = "SELECT 1";
  database->Read([](Snapshot& session) {
    auto rows = session.Query<kOne>();
    EXPECT_TRUE(rows.Next());
    EXPECT_FALSE(rows.Next());
    EXPECT_FALSE(rows.Next());
  });
}

TEST(DbSession, CountsTheRowsThatAStatementChanged) {
  TestDatabase database;
  for (const char* name : {"a", "b", "c"}) database.Add(name);
  database->Write([](Tx& tx, const Stamp&) {
    EXPECT_EQ(tx.RunCounted("UPDATE dish SET at = $1 WHERE name > $2", 5, "a"), 2);
    EXPECT_EQ(tx.RunCounted("DELETE FROM dish WHERE name = $1", "z"), 0);
    EXPECT_EQ(tx.RunCounted("DELETE FROM dish WHERE at = 5 RETURNING id"), 2);
  });
}

TEST(DbSession, RefusesAWrongNumberOfValues) {
  TestDatabase database;
  EXPECT_THROW(database->Read([](Snapshot& s) { s.Exists("SELECT $1", 1, 2); }), Fault);
  EXPECT_THROW(database->Read([](Snapshot& s) { s.Exists("SELECT $1, $2", 1); }), Fault);
  EXPECT_THROW(database->Read([](Snapshot& s) { s.Exists("SELECT $2", 1, 2); }), Fault);
  EXPECT_THROW(database->Read([](Snapshot& s) { s.Exists("SELECT ?", 1); }), Fault);
}

TEST(DbSession, GoesOnWithMoreKindsOfSqlThanItKeeps) {
  TestDatabase database;
  database->Read([](Snapshot& session) {
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < 300; ++i) {
        ClauseBuilder sql("SELECT $1 WHERE 1", {round});
        sql.And("7 NOT IN ({})", std::vector<Bound>(static_cast<size_t>(i + 1), Bound(5)));
        EXPECT_EQ(session.GetInt(sql), round);
      }
    }
  });
}

// What a session takes as a statement.
template <typename S, typename Text>
concept TakesAsFind = requires(S& session, Text text) {
  session.FindInt(text);
};
template <typename S, typename Text>
concept TakesAsTexts = requires(S& session, Text text) {
  session.FindTexts(text);
};
template <typename S, typename Text>
concept TakesAsRun = requires(S& session, Text text) {
  session.Run(text);
};
template <typename S, typename Text>
concept TakesAsGet = requires(S& session, Text text) {
  session.GetInt(text);
};

template <typename Text>
constexpr bool kIsTaken = TakesAsFind<Session, Text> || TakesAsTexts<Session, Text> ||
                          TakesAsRun<Tx, Text> || TakesAsGet<Session, Text>;

TEST(DbSession, TakesNoTextOfTheRunTimeAsSql) {
  static_assert(TakesAsFind<Session, Sql> && TakesAsTexts<Session, Sql> && TakesAsRun<Tx, Sql>);
  static_assert(TakesAsGet<Session, const ClauseBuilder&>);
  static_assert(!kIsTaken<std::string> && !kIsTaken<const std::string&>);
  static_assert(!kIsTaken<std::string_view> && !kIsTaken<const char*> && !kIsTaken<char*>);
  static_assert(!kIsTaken<char(&)[9]>, "an array that can be written to");
  static_assert(!std::is_constructible_v<Sql, std::string_view>);
  static_assert(!std::is_constructible_v<ClauseBuilder, std::string, std::vector<Bound>>);
  static_assert(!std::is_invocable_v<decltype(static_cast<ClauseBuilder& (ClauseBuilder::*)(Sql)>(
                                         &ClauseBuilder::OrderBy)),
                                     ClauseBuilder&, std::string>);
}

TEST(DbSession, FailsWhereOneRowMustBeChangedAndIsNot) {
  TestDatabase database;
  database.Add("ceviche");
  const auto rename = [&](const char* from) {
    database->Write([&](Tx& tx, const Stamp&) {
      tx.RunOne("UPDATE dish SET name = $2 WHERE name = $1", from, "tiradito");
    });
  };
  rename("ceviche");
  EXPECT_EQ(database.Names(), std::vector<std::string>{"tiradito"});
  try {
    rename("ceviche");
    FAIL();
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind, Fault::Kind::kDamaged);
    EXPECT_NE(fault.cause.find("UPDATE dish"), std::string::npos) << fault.cause;
  }
}

TEST(DbSession, TakesDoubleQuotesForNamesOnly) {
  TestDatabase database;
  EXPECT_THROW(database->Read([](Snapshot& s) { s.Exists("SELECT \"text\""); }), Fault);
}

}  // namespace
}  // namespace comanda::db
