#include "db/integrity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <string_view>

#include "db/row_values.h"

namespace comanda::db {
namespace {

// SQLite's own words about rows; all others but those about an index are about pages.
constexpr std::array<std::string_view, 3> kAboutRows = {" value in ", "CHECK constraint failed in ",
                                                        "row not in PRIMARY KEY order for "};

// Before the lines about pages.
constexpr std::string_view kHead = "*** in database ";

bool IsAboutARow(std::string_view line) {
  return std::ranges::any_of(kAboutRows,
                             [&](std::string_view words) { return line.find(words) != line.npos; });
}

// Two complaints name a page and not its tree. They keep no other tree from being read.
bool NamesNoTree(std::string_view line) {
  return line.starts_with("Multiple uses for byte ") || line.starts_with("Fragmentation of ");
}

// What SQLite says of a page that the disk does not read; one that is not in the file is said in
// other words.
bool IsAboutARead(std::string_view line) {
  return line.find("unable to get the page. error code=266") != line.npos ||
         line.find("failed to get page ") != line.npos;
}

// "Tree 12 page 340 cell 7: ...": the root page of the tree; 0 where the line has another form.
int64_t TreeNamedIn(std::string_view line) {
  constexpr std::string_view kTree = "Tree ";
  if (!line.starts_with(kTree)) return 0;
  line.remove_prefix(kTree.size());
  int64_t root = 0;
  std::from_chars(line.data(), line.data() + line.size(), root);
  return root;
}

// "row 7 missing from index sale_at", "index sale_at stores an imprecise floating-point value …".
const Index* IndexNamedIn(std::string_view line, const Table& table) {
  constexpr std::string_view kIndex = "index ";
  const size_t at = line.find(kIndex);
  if (at == line.npos || (at > 0 && line[at - 1] != ' ')) return nullptr;
  const std::string_view rest = line.substr(at + kIndex.size());
  return table.Find(at == 0 ? rest.substr(0, rest.find(' ')) : rest);
}

void AddToPages(std::string_view line, bool is_unread, Findings& findings) {
  findings.is_unread = is_unread && (findings.pages.empty() || findings.is_unread);
  findings.pages += std::string(line) + "\n";
}

void Sort(std::string_view line, const Table& table, Findings& findings) {
  if (line == "ok" || line.starts_with(kHead)) return;
  const auto tree = std::ranges::find(table.indexes, TreeNamedIn(line), &Index::root_page);
  if (tree != table.indexes.end()) {
    findings.indexes.insert(tree->name);
    findings.malformed.insert(tree->name);
  } else if (const Index* index = IndexNamedIn(line, table)) {
    findings.indexes.insert(index->name);
  } else if (IsAboutARow(line)) {
    findings.rows.emplace_back(line);
  } else {
    AddToPages(line, IsAboutARead(line), findings);
  }
}

// The only column of PRAGMA integrity_check. SQLite says all about pages in one text.
std::string_view Found(const Row& row) {
  const auto* text = std::get_if<std::string>(&row[0]);
  return text ? *text : std::string_view();
}

template <typename Fn>
void ForEachLine(std::string_view text, Fn&& fn) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) fn(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Where an index disagrees with its table and such a page is nobody's, it is the index's. If it is
// not, the check of the table finds it again once the index has another tree.
void AttributePages(Findings& findings) {
  if (findings.indexes.empty() || findings.pages.empty()) return;
  bool names_no_tree = true;
  ForEachLine(findings.pages, [&](std::string_view line) { names_no_tree &= NamesNoTree(line); });
  if (!names_no_tree) return;
  findings.malformed = findings.indexes;
  findings.pages.clear();
  findings.is_unread = false;
}

// Whether every entry of the index, or with null every row of the table, can be read.
bool CanBeRead(Connection& connection, const Table& table, const Index* index) {
  const bool has_columns = index && !index->has_expression;
  std::string sql = "SELECT " + (has_columns ? QuotedList(index->columns) : "*") + " FROM " +
                    Quoted(table.name) +
                    (index ? " INDEXED BY " + Quoted(index->name) : table.own_tree);
  if (index && !index->where.empty()) sql += " WHERE " + index->where;
  try {
    ForEachRow(connection, sql, {}, [](const Row&) {});
  } catch (const Fault&) {
    if (!PageUnreadable(connection.trouble())) throw;
    return false;
  }
  return true;
}

// A malformed index can end the check before it is named. It is one that cannot be read, where the
// table itself can.
void AttributeUnreadable(Connection& connection, const Table& table, Findings& findings) {
  if (!CanBeRead(connection, table, nullptr)) return;
  for (const Index& index : table.indexes) {
    if (CanBeRead(connection, table, &index)) continue;
    findings.indexes.insert(index.name);
    findings.malformed.insert(index.name);
  }
}

Findings Run(Connection& connection, const std::string& pragma, const Table& table) {
  Findings findings;
  try {
    const std::string sql = "PRAGMA " + pragma + "(" + Quoted(table.name) + ")";
    ForEachRow(connection, sql, {}, [&](const Row& row) {
      ForEachLine(Found(row), [&](std::string_view line) { Sort(line, table, findings); });
    });
  } catch (const Fault& fault) {
    if (!PageUnreadable(connection.trouble())) throw;
    // A malformed index, which has been named by then, cannot be read.
    if (findings.malformed.empty()) AttributeUnreadable(connection, table, findings);
    if (findings.malformed.empty()) {
      AddToPages(fault.cause, connection.trouble() == Trouble::kUnread, findings);
    }
  }
  AttributePages(findings);
  return findings;
}

// What a check of the whole file says, the first lines of it. The number in the pragma is that of
// the findings: unused pages alone could take the default of 100.
std::string ProblemsOf(Connection& connection, std::string_view pragma) {
  constexpr int kShownMax = 20;
  constexpr std::string_view kUnused = ": never used";
  std::string problems;
  int shown = 0;
  try {
    ForEachRow(connection, pragma, {}, [&](const Row& row) {
      ForEachLine(Found(row), [&](std::string_view line) {
        if (line == "ok" || line.starts_with(kHead) || line.ends_with(kUnused)) return;
        if (++shown <= kShownMax) problems += std::string(line) + "\n";
      });
    });
  } catch (const Fault& fault) {
    if (!PageUnreadable(connection.trouble())) throw;
    problems += fault.cause + "\n";
  }
  return problems;
}

}  // namespace

void Findings::Add(Findings more) {
  indexes.merge(more.indexes);
  malformed.merge(more.malformed);
  rows.insert(rows.end(), std::make_move_iterator(more.rows.begin()),
              std::make_move_iterator(more.rows.end()));
  if (!more.pages.empty()) {
    is_unread = more.is_unread && (pages.empty() || is_unread);
    pages += more.pages;
  }
}

std::string Findings::Text() const {
  std::string text = pages;
  for (const std::string& row : rows) text += row + "\n";
  for (const std::string& index : indexes) {
    text += "the index " + index + (malformed.contains(index) ? " is malformed\n" : " is wrong\n");
  }
  return text;
}

Findings QuickCheck(Connection& connection, const Table& table) {
  return Run(connection, "quick_check", table);
}

Findings IntegrityCheck(Connection& connection, const Table& table) {
  return Run(connection, "integrity_check", table);
}

std::string IntegrityOfAll(Connection& connection) {
  return ProblemsOf(connection, "PRAGMA integrity_check(2147483647)");
}

std::string QuickCheckOfAll(Connection& connection) {
  return ProblemsOf(connection, "PRAGMA quick_check(2147483647)");
}

Findings CheckFreePages(Connection& connection) {
  return QuickCheck(connection, {.name = "sqlite_schema"});
}

}  // namespace comanda::db
