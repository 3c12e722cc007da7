#pragma once

// The structure of a database file: its pages and indexes, as SQLite itself checks them
// (db/sqlite/self_check.h). That of a database that is served is in integrity/tables.h.

#include <string>

#include "base/time/clock.h"
#include "db/sqlite/file_watcher.h"
#include "db/sqlite/self_check.h"
#include "integrity/finding.h"

namespace comanda::integrity {

// What SQLite's lines mean. `where` is the table or the file that was checked.
Findings MeaningOf(const db::SelfCheck& check, const std::string& where);

// As integrity/tables.h, on a connection of the caller's.
Findings CheckTable(db::FileWatcher& watcher, const std::string& table);

// What SQLite's quick_check finds within a few seconds in a file that nobody uses and that has no
// write-ahead log: such a log would have the pages that the file lacks. Changes nothing, and makes
// no file beside it. For `comanda doctor`.
struct Glance {
  Findings findings;
  bool is_whole = true;  // false: the time was too short for the whole file
};
// Fault if the file cannot be opened.
Glance GlanceAt(const std::string& path, const Clock& clock);

}  // namespace comanda::integrity
