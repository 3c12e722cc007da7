#pragma once

// One rotating backup into a directory of the setting backup_to: it is written, read back, checked
// and counted; then it gets its name (catalog.h); then old ones go (rotation.h). Whenever this is
// interrupted, the directory has all the good backups that it had, and nothing unfinished has the
// name of a backup.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backups/copy.h"
#include "base/time/clock.h"
#include "config/options.h"
#include "db/disk_space.h"

namespace comanda::backups {

// What making a backup needs.
struct Making {
  const config::Options& options;
  db::SpaceSettings space;  // of the data directory
  CountRows count_rows;
  const Clock& clock;
  std::string passphrase;  // empty: plain backups
};

struct Made {
  std::string path;
  std::vector<std::string> removed;      // the names of the backups that went
  std::vector<std::string> not_whole;    // of which something was lost, and what: a sentence each
  std::map<std::string, int64_t> sizes;  // of the sealed backups that are there, by their names
  bool is_private = true;                // nobody else can read it there
  Copied copied;
};

// Makes the directory where it is missing, the directory above it is on another disk than the root
// directory, and that disk is mounted; for the owner of the data directory. Else nothing is made:
// where a disk is not mounted, its directory would be made on the root disk. A failure is found by
// what follows.
void MakeTarget(const config::Options& options, const std::string& target);

// Makes what MakeTarget() makes. Refusal, with what to do, unless a rotating backup can be made
// there: the directory is missing, not mounted, on another file system
// than the last good backup because that one's disk is away, read-only, a file, of another user, or
// the data directory or in it.
void PrepareTarget(const config::Options& options, const std::string& target);

// Whether nobody else on this machine can read a plain backup that was made just now. False where
// the file system keeps no owners or modes (medium.h).
bool IsReadByItsOwnerAlone(const std::string& path);

// True if so many bytes more on the disk of space.directory leave what orders need.
bool LeavesRoomForOrders(int64_t bytes, db::SpaceSettings space);

// Fault kDiskFull if a copy of `bytes` below `directory` would leave too little free space: for
// orders where it is the disk of the data directory, else at all.
void RequireRoom(const std::string& directory, int64_t bytes, const db::SpaceSettings& space);

// Makes a backup. Blocks for as long as it takes. Call it before other threads exist. One of a
// damaged database gets its name with kDamagedEnd, and only older damaged ones go for it. Those of
// which something was lost since they were made are not counted as kept (WhyNotWhole()); `sizes` as
// the last backup there has left them. Throws what PrepareTarget() throws, and Fault if the backup
// cannot be made; nothing of it is left then.
Made BackUpInto(const std::string& target, const Making& making,
                const std::map<std::string, int64_t>& sizes);

// Writes what CopyDataDirectory() copies to `file`, sealed with making.passphrase, and reads it
// back. The plain copy is made in the data directory and deleted again. `name` finds the name of
// the file in `directory`; it is called with whether the database is damaged.
Copied SealInto(const std::string& directory, const Making& making,
                const std::function<std::string(bool is_damaged)>& name, std::string& path);

}  // namespace comanda::backups
