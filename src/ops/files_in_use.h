#pragma once

// The files that a running server has read and goes on using as they were: certificates and
// authorities that settings name, and the system's bundle of authorities. A reload (SIGHUP) reads
// them again. Any thread.

#include <mutex>
#include <string>
#include <vector>

#include "config/options.h"

namespace comanda::ops {

class FilesInUse {
 public:
  // Notes what the files contain now; at the start and at a reload. `system_authorities`: the path
  // of the system's bundle; empty if there is none.
  void Note(const config::Options& options, const std::string& system_authorities);

  // Which of them are gone, cannot be read or have another content since, with what to do; empty if
  // none is. Reads the files whose size or times have changed.
  std::string Trouble() const;

 private:
  struct File {
    std::string name;  // of the setting
    std::string path;
    std::string state;   // size and times
    std::string digest;  // of the content; empty: it could not be read
  };
  static File Look(std::string name, std::string path);

  mutable std::mutex mutex_;
  std::vector<File> files_;  // guarded by mutex_
};

}  // namespace comanda::ops
