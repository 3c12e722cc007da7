#include "db/sqlite/self_check.h"

#include <sqlite3.h>

#include <algorithm>
#include <string_view>

namespace comanda::db {
namespace {

// SQLite says all about pages in one text of several lines, the first of which names the database.
void AddLines(std::string_view text, size_t lines_max, std::vector<std::string>& lines) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool is_finding = !line.empty() && line != "ok" &&
                            !line.starts_with("*** in database ") &&
                            !line.ends_with(": never used");
    if (is_finding && lines.size() < lines_max) lines.emplace_back(line);
  }
}

SelfCheck Run(Connection& connection, const std::string& pragma, size_t lines_max) {
  SelfCheck found;
  Statement& statement = connection.Take(pragma);
  try {
    while (connection.Step(statement)) {
      const unsigned char* text = sqlite3_column_text(statement.handle, 0);
      if (text) AddLines(reinterpret_cast<const char*>(text), lines_max, found.lines);
    }
  } catch (const Fault& fault) {
    connection.Give(statement);
    if (!PageUnreadable(connection.trouble())) throw;
    found.failure = fault;
    return found;
  }
  connection.Give(statement);
  return found;
}

// The number is that of SQLite's findings: unused pages alone could take the default of 100.
constexpr const char* kOfAll = "(2147483647)";
constexpr size_t kShownMax = 20;

}  // namespace

SelfCheck CheckTable(Connection& connection, const std::string& table) {
  return Run(connection, "PRAGMA integrity_check(" + Quoted(table) + ")", SIZE_MAX);
}

SelfCheck CheckFile(Connection& connection) {
  return Run(connection, std::string("PRAGMA integrity_check") + kOfAll, kShownMax);
}

SelfCheck CheckPagesOfTable(Connection& connection, const std::string& table) {
  return Run(connection, "PRAGMA quick_check(" + Quoted(table) + ")", SIZE_MAX);
}

SelfCheck CheckPages(Connection& connection) {
  return Run(connection, std::string("PRAGMA quick_check") + kOfAll, kShownMax);
}

}  // namespace comanda::db
