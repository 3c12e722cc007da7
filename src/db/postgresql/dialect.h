#pragma once

// A migration in PostgreSQL's words. Migrations (app/migrations) are written for SQLite, in the
// part of SQL that both engines have in common, so that most of a text needs no change. Pure, any
// thread.

#include <string>
#include <string_view>
#include <vector>

namespace comanda::db {

// The statements of `migration` in their order, each without its semicolon and what stands between
// it and its neighbours. What is changed:
//
//   INTEGER                        BIGINT, as type of a column and in CAST; PostgreSQL's has 32
//   bits STRICT, WITHOUT ROWID          removed from behind the columns of a table PRAGMA, ANALYZE
//   left out: the engine keeps PostgreSQL's statistics itself statements on sqlite_stat1…4   left
//   out: what is written there is for SQLite's planner
//
// All else is the same to the byte, so a text that is PostgreSQL's already stays as it is. Fault
// kInternal with the statement where it is not known that PostgreSQL does the same: another kind of
// statement, a function, operator, type or word that is not on the lists in dialect.cc. What is
// refused here needs other SQL, or a twin of its migration for PostgreSQL.
//
// No list can see what depends on rows: nulls sort first in SQLite and last in PostgreSQL,
// arithmetic on numbers of the text has 32 bits. A step on rows is tried on both (tests/sql).
std::vector<std::string> ForPostgresql(std::string_view migration);

}  // namespace comanda::db
