#pragma once

// The table of mounts, /etc/fstab (fstab(5)), as text: which lines there are, and the one line that
// `comanda disk use` writes. Pure: the caller reads and replaces the file. Lines of others are
// never changed, not by a byte.

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace comanda::backups {

// One line, with \040 and the like decoded.
struct MountLine {
  std::string source;   // "UUID=…", "/dev/sdb1"
  std::string point;    // without a slash at its end
  std::string type;     // "ext4"
  std::string options;  // "nofail,noatime"

  bool HasOption(std::string_view option) const;
  // True for a line that `comanda disk use` has written: mount(8) ignores options that begin with
  // x-, and one of them is the mark.
  bool IsOurs() const;
};

// All lines but comments, empty ones and those with fewer than two words.
std::vector<MountLine> MountLines(std::string_view table);

// The file system of a disk for backups, and whose the files are where it knows no owners.
struct MountedAs {
  std::string uuid;
  std::string type;  // one for which KnowsType() is true
  std::string point;
  uid_t user = 0;
  gid_t group = 0;
};
// True for the file systems that may hold backups.
bool KnowsType(std::string_view type);
// "ext4, xfs, …", for messages.
std::string KnownTypes();
// True for one without owners: every file belongs to the user in its line.
bool IsWithoutOwners(std::string_view type);

// The line for the disk, without a line end. With `nofail`, the machine starts without the disk,
// too.
std::string LineFor(const MountedAs& disk);

// The table with the line at its end.
std::string WithLine(std::string_view table, std::string_view line);
// The table without our lines for that mount point; the same text if there are none.
std::string WithoutOurLine(std::string_view table, std::string_view point);

}  // namespace comanda::backups
