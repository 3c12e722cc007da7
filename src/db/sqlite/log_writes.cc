#include "db/sqlite/log_writes.h"

#include <sqlite3.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "db/sqlite/stacked_files.h"

namespace comanda::db {
namespace {

constexpr size_t kHeldBytesMax = 64 * 1024;
constexpr int kFrameHeaderBytes = 24;

// A log, in the memory that SQLite gives for a file; the file of the system below lies behind it.
struct Log {
  sqlite3_file file = {};  // SQLite's view of it
  std::unique_ptr<char[]> held = {};
  size_t held_bytes = 0;
  sqlite3_int64 held_at = 0;  // where the first held byte goes
  bool commit_ends = false;   // with the page that comes next

  sqlite3_file* below() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  int PassOn() {
    if (held_bytes == 0) return SQLITE_OK;
    const int bytes = static_cast<int>(held_bytes);
    held_bytes = 0;
    return below()->pMethods->xWrite(below(), held.get(), bytes, held_at);
  }
};

Log& Of(sqlite3_file* file) { return *reinterpret_cast<Log*>(file); }

int Write(Log& log, const void* data, int bytes, sqlite3_int64 at) {
  const auto size = static_cast<size_t>(bytes);
  const bool continues = at == log.held_at + static_cast<sqlite3_int64>(log.held_bytes);
  if (!continues || log.held_bytes + size > kHeldBytesMax) {
    if (const int code = log.PassOn(); code != SQLITE_OK) return code;
    if (size > kHeldBytesMax) return log.below()->pMethods->xWrite(log.below(), data, bytes, at);
    log.held_at = at;
  }
  std::memcpy(log.held.get() + log.held_bytes, data, size);
  log.held_bytes += size;
  return SQLITE_OK;
}

// The second field of a frame's header is the size of the database for the last frame of a commit,
// else 0 (SQLite's file format, section 4.1).
bool EndsCommit(const void* data, int bytes) {
  uint32_t size = 0;
  if (bytes == kFrameHeaderBytes) std::memcpy(&size, static_cast<const char*>(data) + 4, 4);
  return size != 0;
}

int WriteFrame(sqlite3_file* file, const void* data, int bytes, sqlite3_int64 at) {
  Log& log = Of(file);
  const bool is_last = std::exchange(log.commit_ends, EndsCommit(data, bytes));
  const int code = Write(log, data, bytes, at);
  return code == SQLITE_OK && is_last ? log.PassOn() : code;
}

// Every other call.
template <auto kMethod, typename... Arguments>
int PassOnFirst(sqlite3_file* file, Arguments... arguments) {
  Log& log = Of(file);
  if (const int code = log.PassOn(); code != SQLITE_OK) return code;
  return (log.below()->pMethods->*kMethod)(log.below(), arguments...);
}

int Close(sqlite3_file* file) {
  Log& log = Of(file);
  const int passed_on = log.PassOn();
  const int closed = log.below()->pMethods->xClose(log.below());
  log.~Log();
  return passed_on != SQLITE_OK ? passed_on : closed;
}

using Methods = sqlite3_io_methods;
constexpr Methods kMethods = {
    .iVersion = 1,
    .xClose = &Close,
    .xRead = &PassOnFirst<&Methods::xRead, void*, int, sqlite3_int64>,
    .xWrite = &WriteFrame,
    .xTruncate = &PassOnFirst<&Methods::xTruncate, sqlite3_int64>,
    .xSync = &PassOnFirst<&Methods::xSync, int>,
    .xFileSize = &PassOnFirst<&Methods::xFileSize, sqlite3_int64*>,
    .xLock = &PassOnFirst<&Methods::xLock, int>,
    .xUnlock = &PassOnFirst<&Methods::xUnlock, int>,
    .xCheckReservedLock = &PassOnFirst<&Methods::xCheckReservedLock, int*>,
    .xFileControl = &PassOnFirst<&Methods::xFileControl, int, void*>,
    .xSectorSize = &PassOnFirst<&Methods::xSectorSize>,
    .xDeviceCharacteristics = &PassOnFirst<&Methods::xDeviceCharacteristics>,
};

int Open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  sqlite3_vfs* const below = StackedFilesOf(vfs).below;
  if ((flags & SQLITE_OPEN_WAL) == 0) return below->xOpen(below, path, file, flags, out_flags);
  file->pMethods = nullptr;
  std::unique_ptr<char[]> held(new (std::nothrow) char[kHeldBytesMax]);
  if (!held) return SQLITE_NOMEM;
  Log* const log = new (file) Log{.held = std::move(held)};
  const int code = below->xOpen(below, path, log->below(), flags, out_flags);
  if (log->below()->pMethods) {
    file->pMethods = &kMethods;
  } else {
    log->~Log();
  }
  return code;
}

}  // namespace

std::string GatheringLogWrites(const std::string& below) {
  return StackFilesOn(
      below,
      {.name = "gathering log writes", .file_bytes = static_cast<int>(sizeof(Log)), .open = &Open});
}

}  // namespace comanda::db
