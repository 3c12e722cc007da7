#pragma once

// Where a path leads: which directory it is in, and whether the disk that should be there is.

#include <string>

namespace comanda::backups {

// The path with symbolic links resolved, as far as it exists: that of the nearest directory above
// that does.
std::string ResolvedAbove(std::string path);

// True if a line of the table of mounts names the directory. False where this process may not read
// the table.
bool IsInTableOfMounts(const std::string& point);

// True if the path, which need not exist, is inside the directory. Symbolic links are resolved.
bool LiesInside(const std::string& path, const std::string& directory);

// The table of mounts (mount_table.h).
inline constexpr char kMountTable[] = "/etc/fstab";

// The directory on which the file system that the path, which need not exist, is or would be on is
// mounted: "/media/usb", or "/". Symbolic links are resolved. Subvolumes count as file systems;
// bind mounts do not, of which the units of systemd have many.
std::string MountPointOf(const std::string& path);

// The nearest directory above the path that should be a mount point and is not mounted: /etc/fstab
// names it, or it is where disks are usually mounted (/mnt, /media, /run/media). Empty if there is
// none, if the path is on such a disk that is mounted, or this process may not look at it.
std::string UnmountedPoint(const std::string& path);

// Where the content of a backup may lie in the clear for a while: the data directory, which has
// such content anyway; where that is missing or cannot be written, the first of $TMPDIR, /var/tmp,
// /tmp and /dev/shm that can. Fault kDiskReadOnly where none can be written.
std::string ScratchDirectory(const std::string& data_directory);

// `former_point`, where a file system was mounted on it that had the path, and the path is on the
// one above it now: the disk was unplugged. Empty if not, if this process may not look at the path,
// and for an empty `former_point`.
std::string UnmountedSince(const std::string& path, const std::string& former_point);

}  // namespace comanda::backups
