#pragma once

// Writes of the write-ahead log (FILE-wal), gathered.
//
// SQLite writes each changed page to the log in two calls, a header of 24 bytes and the page: 36
// calls for an order of three lines with 8 tills. The file systems (sqlite3_vfs) made here pass
// everything on to another one, except for the writer's log: writes that continue each other are
// held in memory, at most kHeldBytesMax, and passed on as one. Nothing is held across the end of a
// commit, nor across any other call for the file: what cannot be written fails the commit before
// its sync.
//
// For the bar on the CPU of an order (scripts/bench): 36 to 55 writes an order are about 5.

#include <string>

namespace comanda::db {

// The name of the file system that gathers the writes of a log in `below`, which is the system's
// where it is empty. Made at the first call. Any thread. Fault where SQLite has no memory.
std::string GatheringLogWrites(const std::string& below);

}  // namespace comanda::db
