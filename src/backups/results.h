#pragma once

// What became of the last rotating backup to each target, kept in the file backup-results of the
// data directory: for /readyz, /metrics and the doctor, which cannot look at a disk that is away.

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"

namespace comanda::backups {

struct Result {
  std::string target;   // the directory, as in the setting backup_to
  UtcMs tried_at = 0;   // wall time
  UtcMs good_at = 0;    // of the last good backup; 0: there was none
  std::string name;     // of that backup; empty: there was none
  std::string problem;  // why the last try made no good backup; empty: it did
  // MountPointOf() the target when that backup was made (place.h); empty: it is not known.
  std::string mount_point;
};

// In the order of their targets. A target that was not tried yet has none. Empty where nothing was
// tried, or the file cannot be read.
std::vector<Result> Results(const std::string& data_directory);

// Replaces the result of the target; one with a problem keeps the last good backup that is noted.
// Those of targets that `targets` does not name are dropped. Blocks until it is on disk. Fault if
// it cannot be written.
void NoteResult(const std::string& data_directory, Result result,
                const std::vector<std::string>& targets);

// The result of one target; one with nothing but its name if there is none.
Result ResultOf(const std::string& data_directory, const std::string& target);

// For a box without targets: none is noted afterwards.
void ForgetResults(const std::string& data_directory);

// The oldest good_at of all targets; 0 if a target has none, or nothing was tried yet. Reads a
// small file that is in the system's cache as a rule.
UtcMs OldestGood(const std::string& data_directory);

// A sentence for each target whose last try failed, or whose last good backup is older than three
// days; empty if all is well or nothing was tried yet.
std::string Trouble(const std::vector<Result>& results, UtcMs now);

}  // namespace comanda::backups
