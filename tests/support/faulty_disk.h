#pragma once

// An SQLite VFS that injects faults: the n-th open, read, write, sync, truncation, deletion or
// mapping of the log's index from now on fails, a number of times or until Heal(). A failed write
// writes nothing, or half of its bytes; a read may succeed with garbage. Pass name() as
// db::Settings::vfs.

#include <sqlite3.h>

#include <array>
#include <atomic>
#include <cstring>
#include <string>

namespace comanda::testing {

class FaultyDisk {
 public:
  enum class Operation : size_t { kOpen, kRead, kWrite, kSync, kTruncate, kDelete, kMap };
  enum class Manner { kNothingDone, kHalfDone, kGarbled };
  static constexpr int kForEver = 1 << 30;

  FaultyDisk() {
    sqlite3_initialize();
    static std::atomic<int> count{0};
    name_ = "faulty" + std::to_string(++count);
    system_ = sqlite3_vfs_find(nullptr);
    vfs_ = *system_;
    vfs_.szOsFile = static_cast<int>(sizeof(File)) + system_->szOsFile;
    vfs_.zName = name_.c_str();
    vfs_.pAppData = this;
    vfs_.pNext = nullptr;
    vfs_.xOpen = &Open;
    vfs_.xDelete = [](sqlite3_vfs* v, const char* path, int sync) {
      const int code = Self(v)->Verdict(Operation::kDelete);
      return code ? code : System(v)->xDelete(System(v), path, sync);
    };
    vfs_.xAccess = [](sqlite3_vfs* v, const char* path, int flags, int* out) {
      return System(v)->xAccess(System(v), path, flags, out);
    };
    vfs_.xFullPathname = [](sqlite3_vfs* v, const char* path, int size, char* out) {
      return System(v)->xFullPathname(System(v), path, size, out);
    };
    vfs_.xGetLastError = [](sqlite3_vfs* v, int, char*) { return Self(v)->system_error_.load(); };
    sqlite3_vfs_register(&vfs_, 0);
  }
  ~FaultyDisk() { sqlite3_vfs_unregister(&vfs_); }
  FaultyDisk(const FaultyDisk&) = delete;

  const std::string& name() const { return name_; }

  // From the n-th operation on (1 is the next), `times` operations return `code`. kGarbled: a read
  // succeeds, but returns other bytes than were written.
  void Fail(Operation operation, int n, int code, int times = kForEver,
            Manner manner = Manner::kNothingDone) {
    passes_ = n - 1;
    failures_ = times;
    code_ = code;
    manner_ = manner;
    failing_ = operation;
    armed_ = true;
  }
  // With this errno, which tells a read-only file system from a failing disk.
  void SetSystemError(int error) { system_error_ = error; }
  void Heal() {
    armed_ = false;
    system_error_ = 0;
  }
  int failed() const { return failed_; }
  // The number of operations since construction, to find the last n of a scenario.
  int count(Operation operation) const { return counts_[static_cast<size_t>(operation)]; }

 private:
  struct File {
    sqlite3_file base;
    FaultyDisk* disk;
    bool holds_pages;  // the database itself, not its log
    sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  };

  static FaultyDisk* Self(sqlite3_vfs* vfs) { return static_cast<FaultyDisk*>(vfs->pAppData); }
  static sqlite3_vfs* System(sqlite3_vfs* vfs) { return Self(vfs)->system_; }
  static File* Wrapped(sqlite3_file* file) { return reinterpret_cast<File*>(file); }
  static sqlite3_file* Real(sqlite3_file* file) { return Wrapped(file)->real(); }

  int Verdict(Operation operation) {
    ++counts_[static_cast<size_t>(operation)];
    if (!armed_ || operation != failing_) return SQLITE_OK;
    if (passes_ > 0) {
      --passes_;
      return SQLITE_OK;
    }
    if (failures_ <= 0) return SQLITE_OK;
    --failures_;
    ++failed_;
    return code_;
  }

  static int Open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out) {
    std::memset(file, 0, sizeof(File));
    if (const int code = Self(vfs)->Verdict(Operation::kOpen); code != SQLITE_OK) return code;
    Wrapped(file)->disk = Self(vfs);
    Wrapped(file)->holds_pages = (flags & SQLITE_OPEN_MAIN_DB) != 0;
    sqlite3_file* real = Real(file);
    const int code = System(vfs)->xOpen(System(vfs), path, real, flags, out);
    if (real->pMethods) file->pMethods = Methods();
    return code;
  }

  static int Read(sqlite3_file* file, void* to, int bytes, sqlite3_int64 at) {
    FaultyDisk* disk = Wrapped(file)->disk;
    const int read = Real(file)->pMethods->xRead(Real(file), to, bytes, at);
    // Garbage in the log is detected by its checksums, so only pages of the database are garbled.
    const bool garbled = disk->manner_ == Manner::kGarbled;
    if (garbled && !Wrapped(file)->holds_pages) return read;
    const int code = disk->Verdict(Operation::kRead);
    if (code == SQLITE_OK || !garbled) return code ? code : read;
    std::memset(to, 0xA5, static_cast<size_t>(bytes));
    return SQLITE_OK;
  }

  static int Write(sqlite3_file* file, const void* from, int bytes, sqlite3_int64 at) {
    FaultyDisk* disk = Wrapped(file)->disk;
    const int code = disk->Verdict(Operation::kWrite);
    if (code == SQLITE_OK) return Real(file)->pMethods->xWrite(Real(file), from, bytes, at);
    if (disk->manner_ == Manner::kHalfDone) {
      Real(file)->pMethods->xWrite(Real(file), from, bytes / 2, at);
    }
    return code;
  }

  static const sqlite3_io_methods* Methods() {
    using F = sqlite3_file*;
    static const sqlite3_io_methods methods = {
        3,
        [](F f) { return Real(f)->pMethods->xClose(Real(f)); },
        &Read,
        &Write,
        [](F f, sqlite3_int64 size) {
          const int code = Wrapped(f)->disk->Verdict(Operation::kTruncate);
          return code ? code : Real(f)->pMethods->xTruncate(Real(f), size);
        },
        [](F f, int flags) {
          const int code = Wrapped(f)->disk->Verdict(Operation::kSync);
          return code ? code : Real(f)->pMethods->xSync(Real(f), flags);
        },
        [](F f, sqlite3_int64* size) { return Real(f)->pMethods->xFileSize(Real(f), size); },
        [](F f, int level) { return Real(f)->pMethods->xLock(Real(f), level); },
        [](F f, int level) { return Real(f)->pMethods->xUnlock(Real(f), level); },
        [](F f, int* out) { return Real(f)->pMethods->xCheckReservedLock(Real(f), out); },
        [](F f, int op, void* arg) { return Real(f)->pMethods->xFileControl(Real(f), op, arg); },
        [](F f) { return Real(f)->pMethods->xSectorSize(Real(f)); },
        [](F f) { return Real(f)->pMethods->xDeviceCharacteristics(Real(f)); },
        [](F f, int page, int size, int extend, void volatile** out) {
          const int code = Wrapped(f)->disk->Verdict(Operation::kMap);
          return code ? code : Real(f)->pMethods->xShmMap(Real(f), page, size, extend, out);
        },
        [](F f, int offset, int n, int flags) {
          return Real(f)->pMethods->xShmLock(Real(f), offset, n, flags);
        },
        [](F f) { Real(f)->pMethods->xShmBarrier(Real(f)); },
        [](F f, int remove) { return Real(f)->pMethods->xShmUnmap(Real(f), remove); },
        [](F, sqlite3_int64, int, void** out) {
          *out = nullptr;  // not memory-mapped, so that every read and write passes through here
          return SQLITE_OK;
        },
        [](F, sqlite3_int64, void*) { return SQLITE_OK; },
    };
    return &methods;
  }

  std::string name_;
  sqlite3_vfs* system_ = nullptr;
  sqlite3_vfs vfs_ = {};
  std::atomic<bool> armed_{false};
  std::atomic<Operation> failing_{Operation::kWrite};
  std::atomic<int> passes_{0};
  std::atomic<int> failures_{0};
  std::atomic<int> failed_{0};
  std::atomic<int> code_{0};
  std::atomic<int> system_error_{0};
  std::atomic<Manner> manner_{Manner::kNothingDone};
  std::array<std::atomic<int>, 7> counts_{};
};

}  // namespace comanda::testing
