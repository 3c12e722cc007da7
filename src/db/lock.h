#pragma once

// The lock of a data directory: flock(2) on DIR/comanda.lock. The process that holds it is the only
// one that opens the databases of the directory. The kernel releases it when the process ends. On a
// file system that is read-only, the file of an earlier process is locked.

#include <memory>
#include <optional>
#include <string>

#include "base/handle.h"

namespace comanda::db {

class DirectoryLock {
 public:
  // Takes the lock without waiting. Nothing if another process holds it. Fault where the directory
  // cannot be used, kDiskReadOnly where the file would have to be made on a read-only disk.
  static std::optional<DirectoryLock> TryAcquire(const std::string& data_directory);

 private:
  explicit DirectoryLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace comanda::db
