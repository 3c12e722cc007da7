#include "db/row_values.h"

#include <sqlite3.h>

namespace comanda::db {
namespace {

void Bind(Connection& connection, const Statement& statement, const Row& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    int code = SQLITE_OK;
    const int position = statement.positions.at(i);
    if (const auto* number = std::get_if<int64_t>(&values[i])) {
      code = sqlite3_bind_int64(statement.handle, position, *number);
    } else if (const auto* text = std::get_if<std::string>(&values[i])) {
      code = sqlite3_bind_text64(statement.handle, position, text->data(), text->size(),
                                 SQLITE_TRANSIENT, SQLITE_UTF8);
    }
    if (code != SQLITE_OK) connection.Fail(code, statement.sql);
  }
}

Value ValueAt(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
      return {};
    case SQLITE_INTEGER:
      return sqlite3_column_int64(statement, column);
    default: {
      const unsigned char* text = sqlite3_column_text(statement, column);
      if (!text) return std::string();
      return std::string(reinterpret_cast<const char*>(text),
                         static_cast<size_t>(sqlite3_column_bytes(statement, column)));
    }
  }
}

}  // namespace

void ForEachRow(Connection& connection, std::string_view sql, const Row& values,
                const std::function<void(const Row&)>& fn) {
  Statement& statement = connection.Take(sql);
  try {
    Bind(connection, statement, values);
    while (connection.Step(statement)) {
      Row row;
      const int columns = sqlite3_column_count(statement.handle);
      for (int i = 0; i < columns; ++i) row.push_back(ValueAt(statement.handle, i));
      fn(row);
    }
  } catch (...) {
    connection.Give(statement);
    throw;
  }
  connection.Give(statement);
}

std::vector<Row> RowsOf(Connection& connection, std::string_view sql, const Row& values) {
  std::vector<Row> rows;
  ForEachRow(connection, sql, values, [&](const Row& row) { rows.push_back(row); });
  return rows;
}

}  // namespace comanda::db
