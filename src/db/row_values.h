#pragma once

// Rows of statements whose text is built at run time from the schema's own names: for the checks
// and repairs of a file, inside db/ alone.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "db/sqlite/connection.h"

namespace comanda::db {

// Null, an integer or a text. They compare as SQLite sorts them.
using Value = std::variant<std::monostate, int64_t, std::string>;
using Row = std::vector<Value>;
// Of a column that is always a text: a name in the schema.
inline const std::string& TextOf(const Value& value) { return std::get<std::string>(value); }

// Calls fn for each row of the statement, with these values for $1, $2 … Fault where SQLite fails,
// which may be after some rows.
void ForEachRow(Connection& connection, std::string_view sql, const Row& values,
                const std::function<void(const Row&)>& fn);

// All rows of the statement, with these values for $1, $2 … Fault where SQLite fails.
std::vector<Row> RowsOf(Connection& connection, std::string_view sql, const Row& values = {});

}  // namespace comanda::db
