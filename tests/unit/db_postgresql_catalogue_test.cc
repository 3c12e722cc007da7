#include "db/postgresql/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace comanda::db {
namespace {

using Rows = std::vector<CatalogueRow>;
using Sentences = std::vector<std::string>;

const Rows kOurs = {
    {"table", "client", "", "permanent", ""},
    {"column", "client", "id", "text", "NOT NULL"},
    {"table", "orders", "", "permanent", ""},
    {"column", "orders", "id", "text", "NOT NULL"},
    {"column", "orders", "total", "bigint", "NOT NULL DEFAULT 0"},
    {"index", "orders", "orders_client",
     "CREATE INDEX orders_client ON orders USING btree (client)", "valid"},
    {"constraint", "orders", "orders_pkey", "PRIMARY KEY (id)", ""},
    {"constraint", "orders", "orders_client_fkey", "FOREIGN KEY (client) REFERENCES client(id)",
     ""},
};

Rows Without(std::string_view kind, std::string_view table, std::string_view name) {
  Rows rows = kOurs;
  std::erase_if(rows, [&](const CatalogueRow& row) {
    return row.kind == kind && row.of_table == table && row.name == name;
  });
  EXPECT_EQ(rows.size(), kOurs.size() - 1);
  return rows;
}

Rows With(CatalogueRow row) {
  Rows rows = kOurs;
  rows.push_back(std::move(row));
  return rows;
}

Rows Changed(std::string_view kind, std::string_view table, std::string_view name,
             std::string CatalogueRow::*field, std::string value) {
  Rows rows = kOurs;
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const CatalogueRow& row) {
    return row.kind == kind && row.of_table == table && row.name == name;
  });
  (*found).*field = std::move(value);
  return rows;
}

// The sentences for these rows; those that forbid to serve begin with an exclamation mark.
Sentences Said(const Rows& rows) {
  Sentences sentences;
  for (const Difference& difference : Differences(rows, kOurs)) {
    sentences.push_back((difference.forbids_serving ? "!" : "") + difference.sentence);
  }
  return sentences;
}

TEST(DbPostgresqlCatalogue, SaysNothingOfTheSame) {
  Rows reversed(kOurs.rbegin(), kOurs.rend());
  EXPECT_EQ(Said(kOurs), Sentences{});
  EXPECT_EQ(Said(reversed), Sentences{});
}

TEST(DbPostgresqlCatalogue, ForbidsToServeWithoutAColumn) {
  EXPECT_EQ(Said(Without("column", "orders", "total")),
            Sentences{"!the column orders.total is missing"});
}

TEST(DbPostgresqlCatalogue, ForbidsToServeWithAColumnOfAnotherType) {
  EXPECT_EQ(Said(Changed("column", "orders", "total", &CatalogueRow::definition, "integer")),
            Sentences{"!the column orders.total has type integer, must be bigint"});
}

TEST(DbPostgresqlCatalogue, ForbidsToServeWithATableThatACrashEmpties) {
  EXPECT_EQ(Said(Changed("table", "orders", "", &CatalogueRow::definition, "unlogged")),
            Sentences{"!the table orders is unlogged, must be permanent"});
}

TEST(DbPostgresqlCatalogue, SaysOfATableThatIsMissingNothingElse) {
  Rows rows = kOurs;
  std::erase_if(rows, [](const CatalogueRow& row) { return row.of_table == "orders"; });
  EXPECT_EQ(Said(rows), Sentences{"!the table orders is missing"});
  EXPECT_EQ(Said({}), (Sentences{"!the table client is missing", "!the table orders is missing"}));
}

TEST(DbPostgresqlCatalogue, SaysOfAForeignTableNothingElse) {
  Rows rows = With({"table", "notes", "", "permanent", ""});
  rows.push_back({"column", "notes", "id", "text", "NULL"});
  EXPECT_EQ(Said(rows), Sentences{"there is a table notes that is not ours"});
}

TEST(DbPostgresqlCatalogue, WarnsOfIndexesWithTheStatementThatMakesThem) {
  EXPECT_EQ(Said(Without("index", "orders", "orders_client")),
            Sentences{"the index orders_client of the table orders is missing: CREATE INDEX "
                      "orders_client ON orders USING btree (client)"});
  EXPECT_EQ(Said(Changed("index", "orders", "orders_client", &CatalogueRow::detail, "invalid")),
            Sentences{"the index orders_client of the table orders is invalid, must be valid"});
  EXPECT_EQ(
      Said(Changed("index", "orders", "orders_client", &CatalogueRow::definition,
                   "CREATE INDEX orders_client ON orders USING hash (client)")),
      Sentences{"the index orders_client of the table orders is CREATE INDEX orders_client ON "
                "orders USING hash (client), must be CREATE INDEX orders_client ON orders "
                "USING btree (client)"});
  EXPECT_EQ(Said(With({"index", "orders", "fast", "CREATE INDEX fast ON orders (total)", "valid"})),
            Sentences{"there is an index fast on orders that is not ours: CREATE INDEX fast ON "
                      "orders (total)"});
}

TEST(DbPostgresqlCatalogue, WarnsOfWhatOthersHaveAdded) {
  EXPECT_EQ(Said(With({"trigger", "orders", "audit", "CREATE TRIGGER audit", ""})),
            Sentences{"there is a trigger audit on orders that is not ours: CREATE TRIGGER audit"});
  EXPECT_EQ(Said(With({"rule", "orders", "none", "CREATE RULE none", ""})),
            Sentences{"there is a rule none on orders that is not ours: CREATE RULE none"});
  EXPECT_EQ(Said(With({"column", "orders", "note", "text", "NULL"})),
            Sentences{"there is a column orders.note that is not ours"});
}

TEST(DbPostgresqlCatalogue, WarnsOfAnotherDefault) {
  EXPECT_EQ(Said(Changed("column", "orders", "total", &CatalogueRow::detail, "NULL")),
            Sentences{"the column orders.total is NULL, must be NOT NULL DEFAULT 0"});
}

TEST(DbPostgresqlCatalogue, KnowsConstraintsByWhatTheySay) {
  EXPECT_EQ(Said(Changed("constraint", "orders", "orders_pkey", &CatalogueRow::name, "orders_key")),
            Sentences{});
  EXPECT_EQ(Said(Without("constraint", "orders", "orders_client_fkey")),
            Sentences{"the constraint orders_client_fkey of the table orders is missing: FOREIGN "
                      "KEY (client) REFERENCES client(id)"});
  EXPECT_EQ(Said(With({"constraint", "orders", "small", "CHECK (total < 9)", ""})),
            Sentences{"there is a constraint small on orders that is not ours: CHECK (total < 9)"});
}

}  // namespace
}  // namespace comanda::db
