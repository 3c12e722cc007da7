#pragma once

// A directory inside the data directory in which a backup is tried (`comanda drill`): it is named
// drill-unfinished.NUMBER and locked like a data directory. It holds the authority's key and all
// data, and must not remain: a failure removes it, and what a SIGKILL, Ctrl-C or a power cut leaves
// is removed by the next drill, or by the next start of the server.

#include <optional>
#include <string>
#include <vector>

#include "db/lock.h"

namespace comanda::app {

class Scratch {
 public:
  // Fault where it cannot be made.
  explicit Scratch(const std::string& data_directory);
  Scratch(const Scratch&) = delete;
  ~Scratch();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::optional<db::DirectoryLock> lock_;
};

// Removes those that no running drill uses. Returns their paths. Throws nothing.
std::vector<std::string> RemoveScratches(const std::string& data_directory);

}  // namespace comanda::app
