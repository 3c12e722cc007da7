#pragma once

// Puts a new data directory in the place of the present one, which is set aside and never deleted.
//
// The new one is prepared beside it, on the same file system, as DIR.restoring-TIME. A file
// `unfinished-restore` is in it until it is complete. Then the two names are exchanged in one step
// (renameat2, RENAME_EXCHANGE): at every moment DIR is the old directory or the new one, whole. At
// last the old one gets the name DIR.before-restore-TIME.
//
// What an interruption leaves, and the next restore or start does:
//   DIR.restoring-TIME with `unfinished-restore`   half a copy of a backup; the next restore
//                                                  removes it
//   DIR.restoring-TIME without that file, and      the former data directory; the next restore
//   DIR/restored names TIME                        gives it its name
//   DIR.restoring-TIME without that file else      a complete copy that was not put in place;
//                                                  nobody removes it

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "db/lock.h"

namespace comanda::backups {

// "20261123T183000Z": in the name of what is set aside.
std::string TimeName(UtcMs now);

struct Owner {
  uid_t user = 0;
  gid_t group = 0;
};

class UnfinishedRestore {
 public:
  // Makes the directory. It will belong to the owner of the data directory, or to `owner` where
  // there is no data directory yet. Refusal where the file system cannot exchange directories, or
  // the data directory is a mount point. `data_directory` is resolved: no symbolic link.
  UnfinishedRestore(const std::string& data_directory, UtcMs now, std::optional<Owner> owner);
  UnfinishedRestore(const UnfinishedRestore&) = delete;
  // Removes the directory unless it was put in place.
  ~UnfinishedRestore();

  const std::string& path() const { return path_; }
  // Gives all files their owner and mode, syncs them, and puts the directory in place. The caller
  // holds the lock of the present data directory, and this one that of the new one, until it ends.
  // `from`: what was restored, for the file `restored`. Returns where the former directory is;
  // empty where there was none. Fault where it cannot; the present directory is then in its place.
  std::string PutInPlace(const std::string& from);

 private:
  void RequireExchange();
  void Complete(const std::string& from);

  const std::string data_directory_;
  const std::string time_;
  const std::string path_;
  Owner owner_;
  bool is_in_place_ = false;
  std::optional<db::DirectoryLock> lock_;
};

// Deals with what interrupted restores have left beside the data directory, as above. Returns a
// line for each: what it was, and what was done or is to be done.
std::vector<std::string> CleanUpRestores(const std::string& data_directory);
// The same lines, for a server that must change nothing beside its directory.
std::vector<std::string> DescribeRestores(const std::string& data_directory);

}  // namespace comanda::backups
