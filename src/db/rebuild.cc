#include "db/rebuild.h"

#include <sqlite3.h>

#include "db/row_values.h"
#include "db/tables.h"

namespace comanda::db {
namespace {

// What follows ON in the statement that makes the index: its table, columns and condition. The
// schema has no statement for an index that stands for a constraint.
std::string DefinitionOf(Connection& connection, const std::string& table,
                         const std::string& index) {
  const auto rows = RowsOf(
      connection, "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = $1", {index});
  constexpr std::string_view kOn = " ON ";
  if (const auto* sql = std::get_if<std::string>(&rows.at(0).at(0))) {
    return sql->substr(sql->find(kOn) + kOn.size());
  }
  std::string columns;
  for (const Row& row :
       RowsOf(connection, "SELECT name FROM pragma_index_info($1) ORDER BY seqno", {index})) {
    columns += (columns.empty() ? "" : ", ") + Quoted(TextOf(row[0]));
  }
  return Quoted(table) + " (" + columns + ")";
}

}  // namespace

void RebuildIndex(Connection& connection, const std::string& index) {
  const auto rows = RowsOf(
      connection, "SELECT tbl_name FROM sqlite_schema WHERE type = 'index' AND name = $1", {index});
  if (rows.empty()) throw Fault(Fault::Kind::kInternal, "there is no index " + index);
  const std::string definition = DefinitionOf(connection, TextOf(rows.front()[0]), index);
  const int64_t version = connection.Integer("PRAGMA schema_version");
  sqlite3_db_config(connection.handle(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
  sqlite3_db_config(connection.handle(), SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nullptr);
  connection.RunScript("BEGIN IMMEDIATE; CREATE INDEX comanda_rebuilt ON " + definition);
  RowsOf(connection,
         "UPDATE sqlite_schema SET rootpage = "
         "(SELECT rootpage FROM sqlite_schema WHERE name = 'comanda_rebuilt') "
         "WHERE type = 'index' AND name = $1",
         {index});
  connection.RunScript(
      "DELETE FROM sqlite_schema WHERE name = 'comanda_rebuilt';"
      "PRAGMA schema_version = " +
      std::to_string(version + 2) + "; COMMIT");
}

}  // namespace comanda::db
