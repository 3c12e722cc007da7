#include "db/sqlite/table_rows.h"

namespace comanda::db {

std::vector<Made> MadeBySchema(Connection& connection, bool are_tables) {
  std::vector<Made> made;
  Running rows(connection, are_tables ? "SELECT name, sql FROM sqlite_schema WHERE type = 'table' "
                                        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
                                      : "SELECT name, sql FROM sqlite_schema WHERE type <> 'table' "
                                        "AND sql IS NOT NULL ORDER BY rowid");
  while (rows.Step()) made.push_back({rows.Text(0), rows.Text(1)});
  return made;
}

// Without an index: the scan of a table could else read one that has all columns.
std::string RowsOf(const std::string& table) {
  return "SELECT * FROM " + Quoted(table) + " NOT INDEXED";
}

}  // namespace comanda::db
