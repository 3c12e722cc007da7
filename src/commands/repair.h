#pragma once

// `comanda verify --repair`: puts a sound copy of a database with damaged indexes in its place
// (integrity/repair.h). At every moment the file in place is the former one or the new one, whole.
// The former one is kept beside it as live.db.before-repair-TIME.

#include <optional>
#include <string>

#include "auth/key.h"
#include "config/options.h"
#include "db/lock.h"
#include "integrity/file_verification.h"

namespace comanda::commands {

class Repair {
 public:
  // Takes the lock of the data directory. Refusal, which names the process, where a server works in
  // it; Fault kDiskReadOnly where it cannot be written.
  explicit Repair(const config::Options& options);

  struct Done {
    integrity::Verification::Report report;  // of the new file
    std::string former;                      // path
  };
  // Nothing where the pages and indexes of that database are sound. Blocks for as long as it takes
  // to read the file three times and write it once. Refusal where a table is damaged; Fault
  // kDiskFull, with what is missing, where the copy has no room. The file is then in its place.
  std::optional<Done> TryDatabase(auth::Mode mode) const;

 private:
  void RequireRoom(int64_t bytes) const;
  std::string SetAside(const std::string& path) const;

  const config::Options& options_;
  db::DirectoryLock lock_;
};

}  // namespace comanda::commands
