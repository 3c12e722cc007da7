#include "db/postgresql/dialect.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/problem.h"

namespace comanda::db {
namespace {

using Statements = std::vector<std::string>;

// Why a migration is refused; empty where it is not.
std::string WhyRefused(std::string_view migration) {
  try {
    ForPostgresql(migration);
    return "";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.kind, Fault::Kind::kInternal);
    return fault.cause;
  }
}

TEST(DbPostgresqlDialect, ChangesTheTypesAndOptionsOfATable) {
  EXPECT_EQ(ForPostgresql(R"(
-- What a restaurant sells.
CREATE TABLE dish (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  id TEXT NOT NULL,            -- INTEGER before; a UUID
  price integer,               /* STRICT; */
  name TEXT NOT NULL DEFAULT 'INTEGER; STRICT',
  kind TEXT CHECK (kind IN ('a', 'it''s')),
  "INTEGER" TEXT,
  PRIMARY KEY (company_id, id),
  FOREIGN KEY (company_id, kind) REFERENCES kind(company_id, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE hall (id INTEGER PRIMARY KEY) STRICT;
CREATE TABLE seat (id INTEGER PRIMARY KEY) WITHOUT ROWID , STRICT -- last
)"),
            (Statements{R"(CREATE TABLE dish (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  id TEXT NOT NULL,            -- INTEGER before; a UUID
  price BIGINT,               /* STRICT; */
  name TEXT NOT NULL DEFAULT 'INTEGER; STRICT',
  kind TEXT CHECK (kind IN ('a', 'it''s')),
  "INTEGER" TEXT,
  PRIMARY KEY (company_id, id),
  FOREIGN KEY (company_id, kind) REFERENCES kind(company_id, id)
))",
                        "CREATE TABLE hall (id BIGINT PRIMARY KEY)",
                        "CREATE TABLE seat (id BIGINT PRIMARY KEY)"}));
}

TEST(DbPostgresqlDialect, ChangesTheTypeOfANewColumnAndOfACast) {
  EXPECT_EQ(ForPostgresql("ALTER TABLE dish ADD COLUMN stock INTEGER NOT NULL DEFAULT 0;"
                          "UPDATE dish SET stock = CAST(name AS INTEGER) + 1;"
                          "UPDATE dish SET name = CAST(stock AS TEXT)"),
            (Statements{"ALTER TABLE dish ADD COLUMN stock BIGINT NOT NULL DEFAULT 0",
                        "UPDATE dish SET stock = CAST(name AS BIGINT) + 1",
                        "UPDATE dish SET name = CAST(stock AS TEXT)"}));
}

TEST(DbPostgresqlDialect, LeavesOutWhatIsForSqliteAlone) {
  EXPECT_EQ(ForPostgresql("PRAGMA page_size = 1024;\n"
                          "pragma optimize;\n"
                          "ANALYZE;\nANALYZE sqlite_schema;\n"
                          "DELETE FROM sqlite_stat1;\n"
                          "INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('dish', 'a', '9 1');\n"
                          "UPDATE sqlite_stat1 SET stat = '1';\n"
                          "DROP TABLE IF EXISTS sqlite_stat4;\n"
                          "DROP TABLE sqlite_stat4;;\n"
                          "-- nothing\n"),
            Statements{});
}

TEST(DbPostgresqlDialect, LeavesAllElseAsItIs) {
  const Statements same = {
      "CREATE INDEX dish_name ON dish(company_id, lower(name), id) WHERE name IS NOT NULL",
      "CREATE UNIQUE INDEX dish_code ON dish (company_id, code DESC)",
      "ALTER TABLE dish RENAME TO plate",
      "ALTER TABLE dish RENAME COLUMN name TO title",
      "ALTER TABLE dish DROP COLUMN title",
      "DROP INDEX dish_name",
      "DROP TABLE dish",
      "INSERT INTO dish (id, price) VALUES ('a''b', -1), ('c', 2 * 3 % 2) ON CONFLICT (id) DO "
      "NOTHING",
      "INSERT INTO dish AS d (id) SELECT a || 'x' FROM b WHERE c <> 1 AND (d, e) IN (SELECT 1, 2)",
      "WITH RECURSIVE a (x, y) AS (SELECT 1, 2 UNION ALL SELECT x + 1, y FROM a WHERE x < 9), b "
      "(z) AS (SELECT max(x) FROM a) INSERT INTO dish (id) SELECT z FROM b AS c (z)",
      "UPDATE dish SET (a, b) = (SELECT coalesce(c, d), nullif(trim(e, ' '), '') FROM f)",
      "UPDATE dish SET seq = n.seq FROM (SELECT id, row_number() OVER (PARTITION BY a ORDER BY b) "
      "AS seq FROM dish) AS n WHERE n.id = dish.id",
      "DELETE FROM dish WHERE EXISTS (SELECT 1 FROM b GROUP BY c HAVING count(*) > 1)",
      "UPDATE dish SET name = substr(name, 1, length(name) - 1) || CASE WHEN a THEN 'ñ' END"};
  std::string script;
  for (const std::string& statement : same) script += statement + ";\n";
  EXPECT_EQ(ForPostgresql(script), same);
}

TEST(DbPostgresqlDialect, TakesItsOwnResult) {
  const Statements once = ForPostgresql("CREATE TABLE t (a INTEGER) STRICT; DROP TABLE t;");
  EXPECT_EQ(ForPostgresql(once[0] + ";" + once[1]), once);
}

TEST(DbPostgresqlDialect, NamesWhatItRefusesAndTheStatement) {
  EXPECT_EQ(WhyRefused("DROP TABLE a;\nUPDATE dish\n  SET name = json_extract(name, '$.a');"),
            "no statement for both engines (the function json_extract): "
            "UPDATE dish SET name = json_extract(name, '$.a')");
}

TEST(DbPostgresqlDialect, RefusesWhatItDoesNotKnowToMeanTheSame) {
  for (const char* statement : {
           "UPDATE t SET a = strftime('%s', b)",
           "UPDATE t SET a = ifnull(b, 0)",
           "UPDATE t SET a = instr(b, 'c')",
           "UPDATE t SET a = max(b, c)",
           "UPDATE t SET a = min(coalesce(b, c), 0)",
           "UPDATE t SET a = substr(b, -2)",
           "UPDATE t SET a = substr(b, 0, 2)",
           "UPDATE t SET a = \"f\"(b)",
           "UPDATE t SET a = b -> 'c'",
           "UPDATE t SET a = b ->> 'c'",
           "UPDATE t SET a = 1 WHERE b == 2",
           "UPDATE t SET a = 1 WHERE b LIKE 'c%'",
           "UPDATE t SET a = 1 WHERE b GLOB 'c*'",
           "UPDATE t SET a = 1 WHERE rowid = 2",
           "UPDATE t SET a = 1 ORDER BY b COLLATE NOCASE",
           "UPDATE t SET a = 1.5",
           "UPDATE t SET a = .5",
           "UPDATE t SET a = 1e3",
           "UPDATE t SET a = 0x1F",
           "UPDATE t SET a = x'00'",
           "UPDATE t SET a = E'\\n'",
           "UPDATE t SET a = b & 1",
           "UPDATE t SET a = b << 1",
           "UPDATE t SET a = `b`",
           "UPDATE t SET a = [b]",
           "UPDATE t SET a = $1",
           "UPDATE t SET a = ?",
           "UPDATE t SET a = CAST(b AS BLOB)",
           "UPDATE t SET a = CAST(b)",
           "UPDATE t SET a = CURRENT_TIMESTAMP",
           "UPDATE OR IGNORE t SET a = 1",
           "INSERT OR REPLACE INTO t VALUES (1)",
           "WITH a AS (SELECT 1) INSERT OR IGNORE INTO t SELECT 1",
           "REPLACE INTO t VALUES (1)",
           "INSERT INTO t SELECT name FROM sqlite_schema",
           "SELECT 1",
           "VACUUM",
           "REINDEX",
           "ATTACH 'a' AS b",
           "BEGIN",
           "CREATE TABLE t AS SELECT 1",
           "CREATE TABLE t (a)",
           "CREATE TABLE t (a INT)",
           "CREATE TABLE t (a TEXT, b BLOB)",
           "CREATE TABLE t (a TEXT, b REAL CHECK (b > 0))",
           "CREATE TABLE t (a INTEGER PRIMARY KEY AUTOINCREMENT) STRICT",
           "CREATE TABLE t (a INTEGER) PARTITION BY a",
           "CREATE TEMP TABLE t (a INTEGER)",
           "CREATE VIRTUAL TABLE t USING fts5 (a)",
           "CREATE TRIGGER a AFTER INSERT ON t BEGIN SELECT 1; END",
           "CREATE VIEW v AS SELECT 1",
           "ALTER TABLE t ADD COLUMN a BLOB",
           "ALTER TABLE t ADD a REAL",
           "ALTER TABLE t ADD COLUMN a",
           "UPDATE t SET a = (1",
           "UPDATE t SET a = 1)",
           "UPDATE t SET a = 'b",
           "UPDATE t SET a = \"b",
           "UPDATE t SET a = 1 /* b",
           "UPDATE t SET a = 1 /* b /* c */",
       }) {
    EXPECT_TRUE(WhyRefused(statement).starts_with("no statement for both engines (")) << statement;
  }
}

}  // namespace
}  // namespace comanda::db
