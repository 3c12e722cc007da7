#pragma once

// What a schema of the database consists of, beside what it must consist of. People with rights on
// the database change it: an index is dropped, a column gets another type, a trigger is added. The
// program has to say so at its start, and to refuse what would make its statements fail.
//
// What must be there is read in the same way from a schema that the migrations have just made in a
// transaction that is rolled back (some 0.2 s): it cannot be out of date, and both are written by
// the same server. The engine's own tables belong into it. Pure, any thread.

#include <string>
#include <string_view>
#include <vector>

namespace comanda::db {

// Reads the first schema of the search_path. The columns are those of CatalogueRow, all text.
//   kind        table, column, index, constraint, trigger, rule
//   definition  of a table: permanent or unlogged; of a column: its type; else the statement
//   detail      of a column: NULL or NOT NULL and its default; of an index: valid or invalid
// Indexes of primary keys and unique constraints are their constraints. NOT NULL is the column's,
// although version 18 also has a constraint for it.
inline constexpr std::string_view kReadCatalogue = R"sql(
WITH t AS (
  SELECT c.oid, c.relname AS name, c.relpersistence AS persistence
  FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
  WHERE n.nspname = pg_catalog.current_schema() AND c.relkind IN ('r', 'p')
)
SELECT 'table' AS kind, CAST(t.name AS text) AS of_table, '' AS name,
  CASE t.persistence WHEN 'u' THEN 'unlogged' ELSE 'permanent' END AS definition, '' AS detail
FROM t
UNION ALL
SELECT 'column', CAST(t.name AS text), CAST(a.attname AS text),
  pg_catalog.format_type(a.atttypid, a.atttypmod)
    || CASE WHEN a.attcollation = y.typcollation THEN '' ELSE ' COLLATE ' || l.collname END,
  CASE WHEN a.attnotnull THEN 'NOT NULL' ELSE 'NULL' END
    || CASE WHEN a.attidentity = '' AND a.attgenerated = '' THEN '' ELSE ' GENERATED' END
    || coalesce(' DEFAULT ' || pg_catalog.pg_get_expr(d.adbin, d.adrelid), '')
FROM t JOIN pg_catalog.pg_attribute AS a ON a.attrelid = t.oid
JOIN pg_catalog.pg_type AS y ON y.oid = a.atttypid
LEFT JOIN pg_catalog.pg_collation AS l ON l.oid = a.attcollation
LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attnum > 0 AND NOT a.attisdropped
UNION ALL
SELECT 'index', CAST(t.name AS text), CAST(c.relname AS text),
  pg_catalog.pg_get_indexdef(i.indexrelid, 0, true),
  CASE WHEN i.indisvalid THEN 'valid' ELSE 'invalid' END
FROM t JOIN pg_catalog.pg_index AS i ON i.indrelid = t.oid
JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
WHERE NOT EXISTS (SELECT 1 FROM pg_catalog.pg_constraint AS o
  WHERE o.conindid = i.indexrelid AND o.contype IN ('p', 'u', 'x'))
UNION ALL
SELECT 'constraint', CAST(t.name AS text), CAST(o.conname AS text),
  pg_catalog.pg_get_constraintdef(o.oid, true), ''
FROM t JOIN pg_catalog.pg_constraint AS o ON o.conrelid = t.oid
WHERE o.contype IN ('c', 'f', 'p', 'u', 'x')
UNION ALL
SELECT 'trigger', CAST(t.name AS text), CAST(g.tgname AS text), pg_catalog.pg_get_triggerdef(g.oid, true), ''
FROM t JOIN pg_catalog.pg_trigger AS g ON g.tgrelid = t.oid
WHERE NOT g.tgisinternal
UNION ALL
SELECT 'rule', CAST(t.name AS text), CAST(r.rulename AS text), pg_catalog.regexp_replace(pg_catalog.pg_get_ruledef(r.oid, true), '\s+', ' ', 'g'), ''
FROM t JOIN pg_catalog.pg_rewrite AS r ON r.ev_class = t.oid
)sql";

struct CatalogueRow {
  std::string kind, of_table, name, definition, detail;
};

struct Difference {
  // "the index orders_client of the table orders is missing: CREATE INDEX …"
  std::string sentence;
  // The program's statements would fail or lose rows: it must not serve. Without it, all is right
  // but slower, or guarded less.
  bool forbids_serving;
};

// In the order of the tables' names, no two of one thing. Constraints are known by what they say,
// whatever their names; all else by name. A table that is missing or not ours stands for all that
// is of it.
std::vector<Difference> Differences(const std::vector<CatalogueRow>& found,
                                    const std::vector<CatalogueRow>& wanted);

}  // namespace comanda::db
