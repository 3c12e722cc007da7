#pragma once

// What became of the last rotating backup to each target, kept in the file backup-results of the
// data directory: for /readyz, /metrics and the doctor, which cannot look at a disk that is away.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time/clock.h"

namespace comanda::backups {

struct Result {
  std::string target;                    // the directory, as in the setting backup_to
  UtcMs tried_at = 0;                    // wall time
  UtcMs good_at = 0;                     // of the last good backup; 0: there was none
  std::string name;                      // of that backup; empty: there was none
  std::string problem;                   // why the last try made no good backup; empty: it did
  UtcMs begun_at = 0;                    // of a try that has not ended; 0: each has
  bool is_open = false;                  // others can read the last good one where it is (medium.h)
  std::map<std::string, int64_t> sizes;  // of the sealed backups there, by their names
  // MountPointOf() the target when the last good backup was made (place.h); empty: it is not known.
  std::string mount_point;
};

// In the order of their targets. A target that was not tried yet has none. Empty where nothing was
// tried, or the file cannot be read.
std::vector<Result> Results(const std::string& data_directory);

// Replaces the result of the target; one with a problem keeps what is noted of the last good
// backup. Those of targets that `targets` does not name are dropped. Several processes may note
// results at once. Blocks until it is on disk. Fault if it cannot be written.
void NoteResult(const std::string& data_directory, Result result,
                const std::vector<std::string>& targets);

// The result of one target; one with nothing but its name if there is none.
Result ResultOf(const std::string& data_directory, const std::string& target);

// Notes for each target that a try begins, which the result of the target ends. A process that is
// killed leaves it so.
void NoteBegun(const std::string& data_directory, UtcMs now,
               const std::vector<std::string>& targets);

// Notes a problem of all targets that were not tried since `since`; of those that have a result
// already if `targets` is empty, which is when the settings cannot be read.
void NoteFailure(const std::string& data_directory, const std::string& problem, UtcMs now,
                 const std::vector<std::string>& targets, UtcMs since);

// For a box without targets: none is noted afterwards.
void ForgetResults(const std::string& data_directory);

// The oldest good_at of all targets; 0 if a target has none, or nothing was tried yet. Reads a
// small file that is in the system's cache as a rule.
UtcMs OldestGood(const std::string& data_directory);

// Why no good backup of that target is to be expected: its last try failed, has not ended within
// six hours, or its last good backup is older than three days. Empty if all is well.
std::string TroubleOf(const Result& result, UtcMs now);
// The same of all targets.
std::string Trouble(const std::vector<Result>& results, UtcMs now);

}  // namespace comanda::backups
