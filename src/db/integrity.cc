#include "db/integrity.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "db/row_values.h"

namespace comanda::db {
namespace {

// SQLite's own words about rows; all others but those about an index are about pages.
constexpr std::array<std::string_view, 3> kAboutRows = {" value in ", "CHECK constraint failed in ",
                                                        "row not in PRIMARY KEY order for "};

bool IsAboutARow(std::string_view line) {
  return std::ranges::any_of(kAboutRows,
                             [&](std::string_view words) { return line.find(words) != line.npos; });
}

const Index* IndexNamedIn(std::string_view line, const Table& table) {
  constexpr std::string_view kIndex = " index ";
  const size_t at = line.find(kIndex);
  return at == line.npos ? nullptr : table.Find(line.substr(at + kIndex.size()));
}

void Sort(const std::string& line, const Table& table, Findings& findings) {
  if (line == "ok") return;
  if (const Index* index = IndexNamedIn(line, table)) {
    findings.indexes.insert(index->name);
  } else if (IsAboutARow(line)) {
    findings.rows.push_back(line);
  } else {
    findings.pages += line + "\n";
  }
}

Findings Run(Connection& connection, const std::string& pragma, const Table& table) {
  Findings findings;
  try {
    const std::string sql = "PRAGMA " + pragma + "(" + Quoted(table.name) + ")";
    for (const Row& row : RowsOf(connection, sql)) {
      if (const auto* line = std::get_if<std::string>(&row[0])) Sort(*line, table, findings);
    }
  } catch (const Fault& fault) {
    if (!PageUnreadable(connection.trouble())) throw;
    findings.pages += fault.cause + "\n";
  }
  return findings;
}

}  // namespace

void Findings::Add(Findings more) {
  indexes.merge(more.indexes);
  rows.insert(rows.end(), std::make_move_iterator(more.rows.begin()),
              std::make_move_iterator(more.rows.end()));
  pages += more.pages;
}

std::string Findings::Text() const {
  std::string text = pages;
  for (const std::string& row : rows) text += row + "\n";
  for (const std::string& index : indexes) text += "the index " + index + " is wrong\n";
  return text;
}

Findings QuickCheck(Connection& connection, const Table& table) {
  return Run(connection, "quick_check", table);
}

Findings IntegrityCheck(Connection& connection, const Table& table) {
  return Run(connection, "integrity_check", table);
}

Findings CheckFreePages(Connection& connection) {
  return QuickCheck(connection, {.name = "sqlite_schema"});
}

}  // namespace comanda::db
