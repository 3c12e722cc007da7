#pragma once

// Whether the file system of a data directory refuses writes: mounted read-only, or stopped by the
// kernel after an error of the disk (mount option errors=remount-ro), which is what a worn card
// looks like.

#include <string>

#include "db/settings.h"

namespace comanda::db {

// Writes nothing. Since Linux 6.12 statvfs(3) does not show a file system that the kernel stopped;
// opening a file of it for writing fails. The file is that of the lock (db/lock.h), because
// closing a database file would end SQLite's locks on it. Any thread.
bool DirectoryIsReadOnly(const std::string& data_directory);

// Whether the kernel has stopped the file system of that file. Asked behind a sync: while ext4 is
// being stopped, fdatasync(2) can return 0 although the journal has dropped what it was to write
// (seen with Linux 6.18), and for some moments files can still be opened for writing. Only a change
// of metadata fails from the first moment on. This asks for one that changes nothing: an attribute
// that is not there is to be replaced. False where the file system knows no attributes. Any thread.
bool HasStopped(const char* file);

// For a command that reads a database beside the process that owns its directory. Where the file
// system is read-only, it neither needs that process nor hinders it, and sees what only the log
// has.
class Onlooker {
 public:
  explicit Onlooker(const std::string& database_path);
  Sharing sharing() const { return sharing_; }
  // To be called behind the last read: Fault kUnavailable if the file system was read-only and is
  // so no more. What was read may then be of two moments.
  void RequireStill() const;

 private:
  const std::string path_;
  const Sharing sharing_;
};

}  // namespace comanda::db
