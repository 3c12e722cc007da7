#pragma once

// The head of a database file, read without SQLite: no lock is taken, no file is made beside it,
// nothing is written.

#include <cstdint>
#include <optional>
#include <string>

namespace comanda::integrity {

// As SQLite's file format has it. It is as old as the last checkpoint; a server that starts brings
// it up to date before it serves.
struct FileHead {
  int64_t bytes = 0;           // of the file
  int64_t log_bytes = 0;       // of its write-ahead log; 0 if there is none
  bool is_sqlite = false;      // else the values below are 0
  int64_t expected_bytes = 0;  // what the file must have at least; 0: the head does not tell
  int64_t application = 0;     // application_id: kInUseId or kBackupId (db/sqlite/migrate.h)
  int64_t schema = 0;          // user_version: which migration the file is of
};
// Nothing if there is no such file. Fault if it cannot be read, or is no regular file.
std::optional<FileHead> ReadFileHead(const std::string& path);

}  // namespace comanda::integrity
