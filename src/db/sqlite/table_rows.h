#pragma once

// The rows of a file's tables, whatever these are: for what copies all of them.

#include <string>
#include <string_view>
#include <vector>

#include "engine/connection.h"

struct sqlite3_stmt;

namespace comanda::db {

// A statement of a connection, given back at its end.
class Running {
 public:
  Running(Connection& connection, std::string_view sql)
      : connection_(connection), statement_(connection.Take(sql)) {}
  Running(const Running&) = delete;
  ~Running() { connection_.Give(statement_); }

  bool Step() { return connection_.Step(statement_); }
  sqlite3_stmt* handle() const { return statement_.handle; }
  int position(int parameter) const { return statement_.positions[static_cast<size_t>(parameter)]; }
  std::string Text(int column) const { return std::string(statement_.View(column)); }

 private:
  Connection& connection_;
  Statement& statement_;
};

struct Made {
  std::string name;
  std::string sql;
};

// What the schema has: its tables, or all else (indexes, triggers), in the order in which it was
// made, without SQLite's own.
std::vector<Made> MadeBySchema(Connection& connection, bool are_tables);

// The statement that reads all rows of a table, from the tree of the table and no index.
std::string RowsOf(const std::string& table);

}  // namespace comanda::db
