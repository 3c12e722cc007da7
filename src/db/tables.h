#pragma once

// The tables of a database and their indexes as its schema describes them: what checks and repairs
// of the file work through (db/integrity.h, db/index_sweep.h).

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "db/sqlite/connection.h"

namespace comanda::db {

// An index beside the table. The primary key of a table WITHOUT ROWID is the table itself and none
// of these.
struct Index {
  std::string name;
  // The columns of an entry in their order, the table's key included ("rowid" for a rowid).
  std::vector<std::string> columns;
  std::string where;            // of a partial index: its condition; else empty
  bool has_expression = false;  // then `columns` is not whole
  bool is_primary_key = false;
  int64_t root_page = 0;  // of its tree
};

struct Table {
  std::string name;
  std::vector<std::string> key;  // "rowid", or the primary key of a table WITHOUT ROWID
  // What makes a statement read the table's own tree and no index: NOT INDEXED means nothing to a
  // table WITHOUT ROWID.
  std::string own_tree = " NOT INDEXED";
  std::vector<std::string> primary_key;  // as declared
  std::vector<Index> indexes;

  const Index* Find(std::string_view index) const;
};

// Quoted for use as a name in a statement.
std::string Quoted(std::string_view name);
// The names quoted, each behind the prefix ("r."), with commas.
std::string QuotedList(const std::vector<std::string>& names, const std::string& prefix = "");

// In the order of their names, sqlite_schema not among them. Fault where the schema cannot be read.
std::vector<std::string> TableNames(Connection& connection);
Table DescribeTable(Connection& connection, const std::string& name);

// The tables that the statement reads or writes, those behind foreign keys included; all where that
// cannot be found out (COMMIT, or a statement that cannot be compiled).
std::set<std::string> TablesTouched(Connection& connection, const std::string& sql);

}  // namespace comanda::db
