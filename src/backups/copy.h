#pragma once

// A copy of the data directory while the server runs: databases, settings, certificates with their
// keys, descriptions of providers. Not: the key of the cloud and credentials: the
// box that takes the backup up gets others.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "config/options.h"

namespace comanda::backups {

// What was counted in a database.
struct Counted {
  int64_t orders = 0;
  int64_t events = 0;
  size_t damaged = 0;  // rows
};
// Checks every row of a database. Nothing if it is of another version of the program. Fault if it
// cannot be read.
using CountRows = std::function<std::optional<Counted>(const std::string& path)>;

struct Copied {
  std::vector<std::string> files;    // for each database: name, size, what was counted
  std::vector<std::string> remarks;  // what is not in the copy though it could be, and why
  bool is_damaged = false;           // the live database has damaged rows, copied as they are
};

// DIR/live.db.
std::string LiveDatabase(const config::Options& options);

// The size of the databases with their logs.
int64_t DatabaseBytes(const config::Options& options);

// Copies what the data directory has beside its databases, settings and certificates, to the
// directory `to`, which it makes. Returns what is not in the copy though it could be, and why.
std::vector<std::string> CopySmallFiles(const config::Options& options, const std::string& to);

// Fills the empty directory `to` and syncs it. Each database is read back and checked, and the
// checksums of all files are written (sums.h). Fault if the live database is damaged in its pages,
// or the disk fails or is full.
Copied CopyDataDirectory(const config::Options& options, const std::string& to,
                         const CountRows& count_rows, const Clock& clock);

}  // namespace comanda::backups
