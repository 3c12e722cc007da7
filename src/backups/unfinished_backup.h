#pragma once

// The directory into which a backup is written until it is complete. It is next to the target,
// named comanda-backup-unfinished.XXXXXX and locked (flock); a file backup-unfinished.XXXXXX in the
// data directory contains its path. When the backup is complete, it is renamed to the target.
// A sealed backup has a file with such a name instead, and so has an old backup while it is
// deleted.
//
// An interrupted backup must not remain: it contains the authority's key in a place that nobody
// checks. A failure, Ctrl-C and SIGTERM remove it immediately. What a SIGKILL or a power cut leaves
// is removed by the next backup to the same place, or by the next start of the server.

#include <signal.h>

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/handle.h"

namespace comanda::backups {

class UnfinishedBackup {
 public:
  // Makes the directory and those above it. An empty `data_directory`: without the file there, so
  // that only the next backup to the same place removes what a SIGKILL leaves. Blocks SIGINT,
  // SIGTERM and SIGHUP for the calling thread and starts a thread that waits for them: call it
  // before other threads exist. Fault if the directory cannot be made.
  UnfinishedBackup(const std::string& target, const std::string& data_directory);
  UnfinishedBackup(const UnfinishedBackup&) = delete;
  ~UnfinishedBackup();

  const std::string& path() const { return path_; }
  // Deletes this file as well where the directory is deleted; see Finish().
  void AlsoRemove(const std::string& path);
  // Renames the directory to the target, on disk; the files in it must be on disk already. Run as
  // root, everything in it is given to the owner of the directory that it is in. Fault if it
  // cannot.
  void Finish();
  // The same to another path in the same directory.
  void FinishAs(const std::string& target);
  // Renames the file of AlsoRemove() to `target`, on disk, and deletes the directory.
  void FinishFile(const std::string& target);

 private:
  void WaitForSignal(std::stop_token stop);
  void Remove();

  const std::string target_;
  std::string path_;
  std::string also_;  // guarded by mutex_
  std::string note_;
  Fd lock_;
  sigset_t signals_;
  sigset_t signals_before_;
  std::mutex mutex_;       // held while the directory is renamed or removed
  bool finished_ = false;  // guarded by mutex_
  std::jthread signal_thread_;
};

// A new path for an unfinished backup in that directory.
std::string UnfinishedPathIn(const std::string& directory);

// Deletes a backup: renames it to an unfinished one first, so that a part of it never has the name
// of a backup. Fault if it cannot be renamed; what cannot be deleted then is removed with the
// unfinished ones later.
void RemoveBackup(const std::string& path);

// Removes the unfinished backups that the files in the data directory name, those next to them, and
// those in `beside_too`: files and directories with the name above that belong to this user, where
// they are not locked. Returns the paths of the removed ones.
std::vector<std::string> RemoveUnfinishedBackups(const std::string& data_directory,
                                                 const std::string& beside_too = "");

}  // namespace comanda::backups
