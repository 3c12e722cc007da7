#pragma once

// SQLite's own checks of a database file: PRAGMA integrity_check and quick_check. They say what is
// wrong in SQLite's words; integrity/file.h says what that means and what follows.

#include <optional>
#include <string>
#include <vector>

#include "base/problem.h"
#include "engine/connection.h"

namespace comanda::db {

struct SelfCheck {
  std::vector<std::string> lines;
  // What ended the check: a page that the disk failed to read (kUnread), or that makes no sense.
  std::optional<Fault> failure;

  bool is_sound() const { return lines.empty() && !failure; }
  // What it found first. Not where is_sound().
  const std::string& first() const { return lines.empty() ? failure->cause : lines.front(); }
};

// Each throws Fault where the check cannot be run, or is interrupted.

// integrity_check of a table and its indexes, at most 100 lines. Of "sqlite_schema": of the schema
// and of the list of free pages.
SelfCheck CheckTable(Connection& connection, const std::string& table);
// integrity_check of the whole file, the first 20 lines. Pages that nothing uses are no finding:
// they do no harm, and programs up to schema 20 leave some.
SelfCheck CheckFile(Connection& connection);
// The same two with quick_check, which does not compare indexes with their tables.
SelfCheck CheckPagesOfTable(Connection& connection, const std::string& table);
SelfCheck CheckPages(Connection& connection);

}  // namespace comanda::db
