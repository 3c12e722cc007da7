#pragma once

// Virtual file systems of SQLite (sqlite3_vfs) that stand above another one: their files keep
// something of their own in front of the file below, and pass on what they do not change
// (db/sqlite/file_calls.h, db/sqlite/log_writes.h).

#include <sqlite3.h>

#include <string>

namespace comanda::db {

struct StackedFiles {
  sqlite3_vfs vfs;  // SQLite's view: a copy of the one below with its own name and xOpen
  sqlite3_vfs* below;
  std::string name;
  int variant;  // of the maker's own
};

inline const StackedFiles& StackedFilesOf(sqlite3_vfs* vfs) {
  return *reinterpret_cast<const StackedFiles*>(vfs);
}

// What makes one of a kind.
struct StackedFilesKind {
  std::string name;  // "gathering log writes": each kind and variant has its own
  int file_bytes;    // what a file keeps in front of the one below
  decltype(sqlite3_vfs::xOpen) open;
  int variant = 0;
};

// The name of the file system of that kind above `below`, which is the system's where it is empty.
// Made at the first call. `below` where there is no such file system: opening says so. Any thread.
std::string StackFilesOn(const std::string& below, const StackedFilesKind& kind);

}  // namespace comanda::db
