#include "db/sqlite/table_check.h"

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/handle.h"
#include "engine/connection.h"
#include "db/sqlite/self_check.h"

namespace comanda::db {
namespace {

constexpr size_t kLinesMax = 100;  // of one check; more could hide one about the table

using Pages = std::set<uint32_t>;

struct Table {
  std::string name;
  uint32_t root = 0;
};

// The first two columns of each row, the second one being a number.
std::vector<Table> Rows(Connection& connection, std::string_view sql) {
  std::vector<Table> rows;
  Statement& statement = connection.Take(sql);
  try {
    while (connection.Step(statement)) {
      const unsigned char* name = sqlite3_column_text(statement.handle, 0);
      rows.push_back({name ? reinterpret_cast<const char*>(name) : "",
                      static_cast<uint32_t>(sqlite3_column_int64(statement.handle, 1))});
    }
  } catch (...) {
    connection.Give(statement);
    throw;
  }
  connection.Give(statement);
  return rows;
}

// The number behind the words that a line begins with.
std::optional<uint32_t> NumberBehind(std::string_view line, std::string_view words) {
  if (!line.starts_with(words)) return std::nullopt;
  line.remove_prefix(words.size());
  uint32_t number = 0;
  const auto parsed = std::from_chars(line.data(), line.data() + line.size(), number);
  if (parsed.ec != std::errc()) return std::nullopt;
  return number;
}

uint32_t BigEndian(std::string_view bytes, size_t at, size_t size) {
  uint32_t value = 0;
  for (const char byte : bytes.substr(std::min(at, bytes.size()), size)) {
    value = value << 8 | static_cast<uint8_t>(byte);
  }
  return value;
}

// The pages of a tree without its overflow pages (SQLite's file format, section 1.6): those to
// which the interior pages refer, whatever they are.
Pages PagesOf(const Fd& file, size_t page_bytes, uint32_t root) {
  constexpr uint32_t kInteriorOfIndex = 2, kInteriorOfTable = 5;
  constexpr size_t kFileHeadBytes = 100, kPageHeadBytes = 12;
  Pages pages;
  std::vector<uint32_t> rest = {root};
  std::string page(page_bytes, '\0');
  while (!rest.empty()) {
    const uint32_t number = rest.back();
    rest.pop_back();
    if (number == 0 || !pages.insert(number).second) continue;
    const auto place = static_cast<off_t>((number - 1) * uint64_t{page_bytes});
    if (::pread(file.get(), page.data(), page.size(), place) != ssize_t(page.size())) continue;
    const size_t head = number == 1 ? kFileHeadBytes : 0;
    const uint32_t kind = BigEndian(page, head, 1);
    if (kind != kInteriorOfIndex && kind != kInteriorOfTable) continue;
    rest.push_back(BigEndian(page, head + 8, 4));
    const size_t cells = std::min<size_t>(BigEndian(page, head + 3, 2), page_bytes / 2);
    for (size_t cell = 0; cell < cells; ++cell) {
      const uint32_t at = BigEndian(page, head + kPageHeadBytes + 2 * cell, 2);
      rest.push_back(BigEndian(page, at, 4));
    }
  }
  return pages;
}

// What quick_check says of a table and its indexes.
class Judgement {
 public:
  Judgement(const std::string& path, Connection& connection)
      : file_(OpenToRead(path)),
        page_bytes_(static_cast<size_t>(connection.Integer("PRAGMA page_size"))),
        connection_(connection) {
    for (const Table& index :
         Rows(connection, "SELECT name, rootpage FROM sqlite_schema WHERE type = 'index'")) {
      indexes_.insert(index.root);
      names_.insert(index.name);
    }
  }

  // The line that is about the table; empty where all are about indexes or free pages.
  std::string Find(const Table& table, const std::vector<std::string>& lines) {
    std::optional<Pages> pages;
    bool has_malformed_index = false;
    std::string miscounted;
    uint32_t miscounts = 0;
    for (const std::string& line : lines) {
      if (line.starts_with("Freelist: ")) continue;
      if (line.starts_with("wrong # of entries in index ")) {
        miscounted = line;
        ++miscounts;
        continue;
      }
      bool is_of_index = false;
      if (const auto root = NumberBehind(line, "Tree ")) {
        is_of_index = indexes_.contains(*root);
      } else if (const auto page = PageOfCells(line)) {
        if (!pages) pages = PagesOf(file_, page_bytes_, table.root);
        is_of_index = !pages->contains(*page);
      }
      if (!is_of_index) return line;
      has_malformed_index = true;
    }
    // An index that has another number of entries than its table has rows: it may be the table that
    // lost some, unless an index has the same number or is known to be malformed.
    const bool is_confirmed = has_malformed_index || miscounts < WholeIndexesOf(table);
    return is_confirmed ? "" : miscounted;
  }

 private:
  // "Fragmentation of 3 bytes reported as 35 on page 79", "Multiple uses for byte 708 of page 46":
  // about the cells of a page.
  static std::optional<uint32_t> PageOfCells(std::string_view line) {
    constexpr std::string_view kPage = " page ";
    const size_t at = line.rfind(kPage);
    const bool is_of_cells =
        line.starts_with("Fragmentation of ") || line.starts_with("Multiple uses for byte ");
    if (!is_of_cells || at == line.npos) return std::nullopt;
    return NumberBehind(line.substr(at), kPage);
  }

  // Those with an entry for each row. The primary key of a table WITHOUT ROWID is the table.
  uint32_t WholeIndexesOf(const Table& table) {
    uint32_t count = 0;
    for (const Table& index :
         Rows(connection_,
              "SELECT i.name, i.partial FROM sqlite_schema AS s, pragma_index_list(s.name) AS i "
              "WHERE s.type = 'table' AND s.rootpage = " +
                  std::to_string(table.root))) {
      if (index.root == 0 && names_.contains(index.name)) ++count;
    }
    return count;
  }

  const Fd file_;
  const size_t page_bytes_;
  Connection& connection_;
  Pages indexes_;  // their roots
  std::set<std::string> names_;
};

}  // namespace

std::string FindDamagedTable(const std::string& path, const Clock& clock) {
  Connection connection(path, Connection::Role::kFrozen, "", clock);
  Judgement judgement(path, connection);
  std::vector<Table> tables =
      Rows(connection, "SELECT name, rootpage FROM sqlite_schema WHERE type = 'table'");
  tables.push_back({.name = "sqlite_schema", .root = 1});
  for (const Table& table : tables) {
    const SelfCheck found = CheckPagesOfTable(connection, table.name);
    const std::string line = judgement.Find(table, found.lines);
    if (!line.empty()) return table.name + ": " + line;
    if (found.failure) return table.name + ": its rows cannot be read";
    if (found.lines.size() >= kLinesMax) {
      return table.name + ": so much of its indexes is malformed that its own state is not known";
    }
  }
  return "";
}

}  // namespace comanda::db
