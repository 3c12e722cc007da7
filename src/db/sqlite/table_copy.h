#pragma once

// A sound copy of a database file whose tables are sound and whose indexes are not. The trees of
// the tables are read, and nothing else: every index is made from the rows, also those of UNIQUE
// and PRIMARY KEY constraints. VACUUM INTO cannot do that: SQLite copies the pages of indexes as it
// copies those of tables. A table WITHOUT ROWID is itself the tree of its primary key.
//
// The caller owns the file (db/lock.h), and nobody writes it. Functions block for as long as
// reading the whole file takes, and throw Fault where SQLite or the disk fails.

#include <string>

#include "base/time/clock.h"

namespace comanda::db {

// Writes what the write-ahead log has into the file, and removes the log. Fault kUnavailable where
// another process has the file open.
void TakeInLog(const std::string& path, const Clock& clock);

// Writes the rows of all tables to a new file `copy`, on disk and without a log, with the indexes,
// user_version and application_id of the file; a file of that name is replaced. Its pages have the
// size of new files, which wears the disk least. Then reads both and compares them row by row.
// Fault where a table cannot be read, a row breaks a constraint, or the rows differ; no copy is
// left then. The file has no log.
void CopyTables(const std::string& path, const std::string& copy, const Clock& clock);

}  // namespace comanda::db
