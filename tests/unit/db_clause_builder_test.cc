#include "db/clause_builder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/test_database.h"

namespace comanda::db {
namespace {

using testing::TestDatabase;

TEST(DbClauseBuilder, NumbersTheParametersInTheOrderOfTheClauses) {
  ClauseBuilder builder("SELECT id FROM o WHERE company_id = $1", {int64_t{7}});
  const std::vector<Bound> statuses = {"open", "ready"};
  builder.And("o.status IN ({})", statuses)
      .And("o.paid = 0")
      .And("(o.name = {} OR o.phone = {})", "Ana")
      .OrderBy("o.id DESC")
      .Limit(50, 100);
  EXPECT_EQ(builder.sql(),
            "SELECT id FROM o WHERE company_id = $1 AND o.status IN ($2, $3) AND o.paid = 0 AND "
            "(o.name = $4 OR o.phone = $4) ORDER BY o.id DESC LIMIT $5 OFFSET $6");
  EXPECT_EQ(builder.values().size(), 6u);
}

TEST(DbClauseBuilder, PutsEachOfSeveralValuesInItsPlace) {
  ClauseBuilder builder("SELECT id FROM o WHERE company_id = $1", {int64_t{7}});
  builder.AndEach("(o.name >= {} OR o.phone = {})", {"Ana", "51"}).And("o.paid = {}", 1);
  EXPECT_EQ(builder.sql(),
            "SELECT id FROM o WHERE company_id = $1 AND (o.name >= $2 OR o.phone = $3)"
            " AND o.paid = $4");
  EXPECT_EQ(builder.values().size(), 4u);
}

TEST(DbClauseBuilder, GoesOnBehindASubquery) {
  ClauseBuilder builder("SELECT p.id FROM o AS p WHERE p.id IN (SELECT o.id FROM o WHERE o.c = $1",
                        {int64_t{7}});
  builder.OrderBy("o.id").Limit(20, 40).EndSubquery(")").OrderBy("p.id DESC");
  EXPECT_EQ(builder.sql(),
            "SELECT p.id FROM o AS p WHERE p.id IN (SELECT o.id FROM o WHERE o.c = $1"
            " ORDER BY o.id LIMIT $2 OFFSET $3) ORDER BY p.id DESC");
}

TEST(DbClauseBuilder, MatchesNothingWithAnEmptyList) {
  TestDatabase database;
  database.Add("soup");
  ClauseBuilder builder("SELECT name FROM dish WHERE id > $1", {0});
  builder.And("name IN ({})", std::vector<Bound>{});
  database->Read([&](Snapshot& session) { EXPECT_TRUE(session.FindTexts(builder).empty()); });
}

TEST(DbClauseBuilder, MakesSqlThatRuns) {
  TestDatabase database;
  for (const char* name : {"a", "b", "c", "d"}) database.Add(name);
  ClauseBuilder builder("SELECT name FROM dish WHERE id > $1", {0});
  builder.And("name IN ({})", std::vector<Bound>{"a", "c", "d"}).OrderBy("name DESC").Limit(1, 1);
  database->Read([&](Snapshot& session) {
    EXPECT_EQ(session.FindTexts(builder), std::vector<std::string>{"c"});
  });
}

}  // namespace
}  // namespace comanda::db
