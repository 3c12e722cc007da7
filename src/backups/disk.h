#pragma once

// A disk for backups, for `comanda disk`: a block device with a file system, what the machine knows
// of it, and where it is mounted. Asks blkid(8). Needs root.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "backups/mount_table.h"

namespace comanda::backups {

struct Disk {
  std::string path;  // without symbolic links: "/dev/sdb1"
  dev_t number = 0;
  std::string uuid;
  std::string type;       // "ext4"
  std::string label;      // empty: it has none
  std::string part_uuid;  // of its partition; empty: it is in none

  // Whether a line of the table of mounts names this file system, by any of its names.
  bool IsNamedBy(const MountLine& line) const;
};

// The file system on a block device. Refusal, with what to do, if there is no such device, it is on
// the disk of the system or of the data directory, has partitions or no file system, or one that
// is not made for backups.
Disk FindDisk(const std::string& path, const std::string& data_directory);

// One mount of this process's namespace.
struct Mount {
  dev_t number = 0;  // of the device; one without a meaning for a file system of several devices
  std::string point;
  std::string source;  // "/dev/sdb1", "tmpfs"

  bool IsOf(const Disk& disk) const;
};
// In their order: of several on one point, the last one is seen.
std::vector<Mount> Mounts();
// The mount that is seen on a directory; nothing if none is.
std::optional<Mount> MountOn(const std::string& point);

// Mounts the disk as its line in the table of mounts says. Fault with what mount(8) says.
void MountByTable(const Disk& disk, const std::string& point);
// Fault with what umount(8) says.
void Unmount(const std::string& point);
// Replaces the table of mounts, and lets systemd read it. Fault if it cannot be written.
void ReplaceMountTable(const std::string& content);

}  // namespace comanda::backups
