#pragma once

// Where a path leads: which directory it is in, and whether the disk that should be there is.

#include <string>

namespace comanda::backups {

// The path with symbolic links resolved, as far as it exists: that of the nearest directory above
// that does.
std::string ResolvedAbove(std::string path);

// True if the path, which need not exist, is inside the directory. Symbolic links are resolved.
bool LiesInside(const std::string& path, const std::string& directory);

// The nearest directory above the path that should be a mount point and is not mounted: /etc/fstab
// names it, or it is where disks are usually mounted (/mnt, /media, /run/media). Empty if there is
// none, or if the path is on such a disk that is mounted.
std::string UnmountedPoint(const std::string& path);

// Where the content of a backup may lie in the clear for a while: the data directory, which has
// such content anyway; where that is missing or cannot be written, the first of $TMPDIR, /var/tmp,
// /tmp and /dev/shm that can. Fault kDiskReadOnly where none can be written.
std::string ScratchDirectory(const std::string& data_directory);

}  // namespace comanda::backups
