#pragma once

// The directory that becomes a backup. While it is made it lies beside its target as
// comanda-backup-unfinished.XXXXXX, locked (flock), and the data directory has a note of it,
// backup-unfinished.XXXXXX. An interrupted backup must not stay: it holds the authority's key, and
// nobody knows of it. A failure, Ctrl-C and SIGTERM remove it at once; what a kill or a power cut
// leaves is removed by the next backup beside it, or the next start.

#include <signal.h>

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/handle.h"

namespace comanda::app {

class UnfinishedBackup {
 public:
  // Makes it, and the directories above. Blocks SIGINT, SIGTERM and SIGHUP in this thread: to be
  // made before there are others. Fault where it cannot be made.
  UnfinishedBackup(const std::string& target, const std::string& data_directory);
  UnfinishedBackup(const UnfinishedBackup&) = delete;
  ~UnfinishedBackup();

  const std::string& path() const { return path_; }
  // Gives it its name. Fault where it cannot.
  void Finish();

 private:
  void WaitForSignal(std::stop_token stop);
  void Remove();

  const std::string target_;
  std::string path_;
  std::string note_;
  Fd lock_;
  sigset_t signals_;
  sigset_t signals_before_;
  std::mutex mutex_;       // one at the directory's name
  bool finished_ = false;  // guarded by mutex_
  std::jthread signal_thread_;
};

// Removes what interrupted backups of this data directory have left, and what lies beside those and
// in that further directory: directories of that name which belong to this user and are not
// locked. Which were removed.
std::vector<std::string> RemoveUnfinishedBackups(const std::string& data_directory,
                                                 const std::string& beside_too = "");

// Whether the path, which need not exist, lies in the directory, links resolved.
bool LiesInside(const std::string& path, const std::string& directory);

// The directory above the path that should be a mount point and is none: /etc/fstab names it, or it
// stands where disks are mounted (/mnt, /media, /run/media). Empty where there is none.
std::string UnmountedPoint(const std::string& path);

}  // namespace comanda::app
