#include "db/sqlite/file_calls.h"

#include <sqlite3.h>

#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "base/time/clock.h"
#include "base/file.h"
#include "base/line_limit.h"
#include "base/log.h"
#include "db/read_only.h"
#include "db/sqlite/stacked_files.h"

namespace comanda::db {
namespace {

constexpr const char* kEmptyFile = "/dev/null";

// An open file, in the memory that SQLite gives for it; the file below lies behind it.
struct File {
  sqlite3_file file = {};      // SQLite's view of it
  const char* name = nullptr;  // valid until the file is closed

  sqlite3_file* below() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

File& Of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }

// Where reads have failed since the start, and how often.
class FailedReads {
 public:
  void Note(const std::string& path, int64_t at) {
    const std::lock_guard lock(mutex_);
    if (counts_.size() >= kPlacesMax) counts_.clear();
    const int count = ++counts_[{path, at}];
    if (!lines_.Allows(SystemClock().MonotonicMs())) return;
    if (count == 1) {
      log::Warning("the disk failed a read, which is tried again", {{"file", path}, {"at", at}});
      return;
    }
    log::Error(
        "the disk fails to read the same place again and again: back up to another disk (`comanda "
        "backup TARGET`) and replace this one",
        {{"file", path}, {"at", at}, {"times", count}});
  }

 private:
  static constexpr size_t kPlacesMax = 1'000;
  std::mutex mutex_;
  std::map<std::pair<std::string, int64_t>, int> counts_;  // guarded by mutex_
  LineLimit lines_{5, 10'000};                             // guarded by mutex_
};

int Read(sqlite3_file* file, void* to, int bytes, sqlite3_int64 at) noexcept {
  File& one = Of(file);
  const int code = one.below()->pMethods->xRead(one.below(), to, bytes, at);
  if (code != SQLITE_IOERR_CORRUPTFS && code != SQLITE_IOERR_READ) return code;
  static FailedReads failed;
  try {
    failed.Note(one.name, at);
  } catch (const std::exception&) {  // no memory for the line
  }
  return SQLITE_IOERR_READ;
}

// A commit that is lost although its sync returned would be acknowledged.
int Sync(sqlite3_file* file, int flags) {
  File& one = Of(file);
  const int code = one.below()->pMethods->xSync(one.below(), flags);
  return code == SQLITE_OK && HasStopped(one.name) ? SQLITE_IOERR_FSYNC : code;
}

template <auto kMethod, typename... Arguments>
auto PassOn(sqlite3_file* file, Arguments... arguments) {
  File& one = Of(file);
  return (one.below()->pMethods->*kMethod)(one.below(), arguments...);
}

int NoLock(sqlite3_file*, int) { return SQLITE_OK; }
int NoReservedLock(sqlite3_file*, int* is_reserved) {
  *is_reserved = 0;
  return SQLITE_OK;
}

using Methods = sqlite3_io_methods;
constexpr Methods kShared = {
    .iVersion = 2,  // no xFetch: nothing is memory-mapped (PRAGMA mmap_size = 0)
    .xClose = &PassOn<&Methods::xClose>,
    .xRead = &Read,
    .xWrite = &PassOn<&Methods::xWrite, const void*, int, sqlite3_int64>,
    .xTruncate = &PassOn<&Methods::xTruncate, sqlite3_int64>,
    .xSync = &Sync,
    .xFileSize = &PassOn<&Methods::xFileSize, sqlite3_int64*>,
    .xLock = &PassOn<&Methods::xLock, int>,
    .xUnlock = &PassOn<&Methods::xUnlock, int>,
    .xCheckReservedLock = &PassOn<&Methods::xCheckReservedLock, int*>,
    .xFileControl = &PassOn<&Methods::xFileControl, int, void*>,
    .xSectorSize = &PassOn<&Methods::xSectorSize>,
    .xDeviceCharacteristics = &PassOn<&Methods::xDeviceCharacteristics>,
    .xShmMap = &PassOn<&Methods::xShmMap, int, int, int, void volatile**>,
    .xShmLock = &PassOn<&Methods::xShmLock, int, int, int>,
    .xShmBarrier = &PassOn<&Methods::xShmBarrier>,
    .xShmUnmap = &PassOn<&Methods::xShmUnmap, int>,
};
// Without shared memory.
constexpr Methods Alone() {
  Methods methods = kShared;
  methods.iVersion = 1;
  methods.xLock = methods.xUnlock = &NoLock;
  methods.xCheckReservedLock = &NoReservedLock;
  return methods;
}
constexpr Methods kAlone = Alone();

int Open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  sqlite3_vfs* const below = StackedFilesOf(vfs).below;
  const auto sharing = static_cast<Sharing>(StackedFilesOf(vfs).variant);
  if ((flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) == 0) {
    return below->xOpen(below, path, file, flags, out_flags);
  }
  File& one = *new (file) File{.name = path};
  const bool is_missing_log =
      (flags & SQLITE_OPEN_WAL) != 0 && sharing == Sharing::kAlone && !IsThere(path);
  const int code = is_missing_log ? below->xOpen(below, kEmptyFile, one.below(),
                                                 SQLITE_OPEN_READONLY | SQLITE_OPEN_WAL, out_flags)
                                  : below->xOpen(below, path, one.below(), flags, out_flags);
  if (one.below()->pMethods) {
    file->pMethods = sharing == Sharing::kShared ? &kShared : &kAlone;
  }
  return code;
}

}  // namespace

std::string WithFileCalls(const std::string& below, Sharing sharing) {
  return StackFilesOn(below,
                      {.name = sharing == Sharing::kShared ? "file calls" : "file calls, alone,",
                       .file_bytes = static_cast<int>(sizeof(File)),
                       .open = &Open,
                       .variant = static_cast<int>(sharing)});
}

}  // namespace comanda::db
