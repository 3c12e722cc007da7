#pragma once

// One process owns the data directory (flock on DIR/comanda.lock).

#include <memory>
#include <optional>
#include <string>

#include "base/handle.h"

namespace comanda::db {

class DirectoryLock {
 public:
  // Nothing where another process holds it. Fault where the directory cannot be used.
  static std::optional<DirectoryLock> TryAcquire(const std::string& data_directory);

 private:
  explicit DirectoryLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace comanda::db
