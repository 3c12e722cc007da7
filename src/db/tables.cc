#include "db/tables.h"

#include <algorithm>
#include <map>

#include "db/row_values.h"

namespace comanda::db {
namespace {

bool IsWithoutRowid(Connection& connection, const std::string& table) {
  const auto rows = RowsOf(connection, "SELECT wr FROM pragma_table_list($1)", {table});
  return !rows.empty() && rows.front()[0] == Value(int64_t{1});
}

int64_t RootPageOf(Connection& connection, const std::string& index) {
  const auto rows = RowsOf(
      connection, "SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND name = $1", {index});
  return rows.empty() ? 0 : std::get<int64_t>(rows.front()[0]);
}

// What follows WHERE in the index's own statement.
std::string ConditionOf(Connection& connection, const std::string& index) {
  const auto rows = RowsOf(
      connection, "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = $1", {index});
  constexpr std::string_view kWhere = " WHERE ";
  if (rows.empty() || !std::holds_alternative<std::string>(rows.front()[0])) return "";
  const std::string& sql = TextOf(rows.front()[0]);
  const size_t where = sql.rfind(kWhere);
  return where == sql.npos ? "" : sql.substr(where + kWhere.size());
}

Index DescribeIndex(Connection& connection, const std::string& name, bool partial) {
  Index index{.name = name,
              .where = partial ? ConditionOf(connection, name) : "",
              .root_page = RootPageOf(connection, name)};
  constexpr int64_t kRowid = -1;
  for (const Row& row :
       RowsOf(connection, "SELECT cid, name FROM pragma_index_xinfo($1) ORDER BY seqno", {name})) {
    if (row[0] == Value(kRowid)) {
      index.columns.push_back("rowid");
    } else if (std::holds_alternative<std::string>(row[1])) {
      index.columns.push_back(TextOf(row[1]));
    } else {
      index.has_expression = true;
    }
  }
  return index;
}

}  // namespace

const Index* Table::Find(std::string_view index) const {
  const auto found = std::ranges::find(indexes, index, &Index::name);
  return found == indexes.end() ? nullptr : &*found;
}

std::string Quoted(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string QuotedList(const std::vector<std::string>& names, const std::string& prefix) {
  std::string list;
  for (const std::string& name : names) {
    list += (list.empty() ? "" : ", ") + prefix + Quoted(name);
  }
  return list;
}

std::vector<std::string> TableNames(Connection& connection) {
  std::vector<std::string> names;
  for (const Row& row :
       RowsOf(connection, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")) {
    names.push_back(TextOf(row[0]));
  }
  return names;
}

Table DescribeTable(Connection& connection, const std::string& name) {
  Table table{.name = name};
  const bool without_rowid = IsWithoutRowid(connection, name);
  for (const Row& row : RowsOf(
           connection, "SELECT name FROM pragma_table_info($1) WHERE pk > 0 ORDER BY pk", {name})) {
    table.primary_key.push_back(TextOf(row[0]));
  }
  table.key = without_rowid ? table.primary_key : std::vector<std::string>{"rowid"};
  for (const Row& row :
       RowsOf(connection, "SELECT name, origin, partial FROM pragma_index_list($1)", {name})) {
    if (without_rowid && row[1] == Value(std::string("pk"))) {
      table.own_tree = " INDEXED BY " + Quoted(TextOf(row[0]));
      continue;
    }
    table.indexes.push_back(DescribeIndex(connection, TextOf(row[0]), row[2] == Value(int64_t{1})));
    table.indexes.back().is_primary_key = row[1] == Value(std::string("pk"));
  }
  return table;
}

// The program that SQLite compiles names the root page of each tree that it opens.
std::set<std::string> TablesTouched(Connection& connection, const std::string& sql) {
  std::map<int64_t, std::string> tables;
  for (const Row& row :
       RowsOf(connection, "SELECT rootpage, tbl_name FROM sqlite_schema WHERE rootpage > 0")) {
    tables[std::get<int64_t>(row[0])] = TextOf(row[1]);
  }
  std::set<std::string> touched;
  try {
    for (const Row& row : RowsOf(connection, "EXPLAIN " + sql)) {
      const Value& operation = row[1];
      if (operation != Value(std::string("OpenRead")) &&
          operation != Value(std::string("OpenWrite"))) {
        continue;
      }
      const auto found = tables.find(std::get<int64_t>(row[3]));
      if (found != tables.end()) touched.insert(found->second);
    }
  } catch (const Fault&) {
    touched.clear();
  }
  if (!touched.empty()) return touched;
  for (const auto& [page, table] : tables) touched.insert(table);
  return touched;
}

}  // namespace comanda::db
