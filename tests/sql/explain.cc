// Explains statements with the SQLite that the program has: comanda_explain <INPUT. The input is
// the schema, then the statements, each ended by a NUL byte. The output has for each the line "#"
// and the lines of its plan, or "ERROR" and why.

#include <sqlite3.h>

#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

int main() {
  const std::string input(std::istreambuf_iterator<char>(std::cin), {});
  std::string_view left = input;
  const auto next = [&left] {
    const std::string text(left.substr(0, left.find('\0')));
    left.remove_prefix(text.size() + 1);
    return text;
  };
  sqlite3* database = nullptr;
  sqlite3_initialize();
  sqlite3_open(":memory:", &database);
  if (sqlite3_exec(database, next().c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    std::fprintf(stderr, "comanda_explain: the schema: %s\n", sqlite3_errmsg(database));
    return 1;
  }
  while (!left.empty()) {
    const std::string sql = "EXPLAIN QUERY PLAN " + next();
    sqlite3_stmt* statement = nullptr;
    std::puts("#");
    if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
      std::printf("ERROR %s\n", sqlite3_errmsg(database));
    }
    while (sqlite3_step(statement) == SQLITE_ROW) {
      std::printf("%s\n", reinterpret_cast<const char*>(sqlite3_column_text(statement, 3)));
    }
    sqlite3_finalize(statement);
  }
  return 0;
}
