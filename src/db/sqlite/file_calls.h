#pragma once

// SQLite's calls of a database file and its log, between SQLite and the virtual file system below.
//
// A read that the disk fails stays a read that failed: SQLite's own file system reports EIO as
// SQLITE_IOERR_CORRUPTFS, of which SQLite makes SQLITE_CORRUPT, and one failed read would be called
// damage. Where a read failed is logged; a second failure at the same place says that the disk is
// at fault, and what to do.
//
// A sync behind which the file system has stopped (db/read_only.h) is a sync that failed:
// the kernel does not always say so.
//
// kAlone is for a file system that is read-only (db/read_only.h), where nobody can write the
// files: no lock is taken and no file is made beside the database. The connection keeps the index
// of the log, else the file NAME-shm, in its own memory (PRAGMA locking_mode = EXCLUSIVE), and so
// finds the commits that are only in the log. A log that is missing counts as an empty one.

#include <string>

#include "db/settings.h"

namespace comanda::db {

// The name of such a file system above `below` (the system's if empty), made at its first use. Any
// thread.
std::string WithFileCalls(const std::string& below, Sharing sharing);

}  // namespace comanda::db
