#include "backups/disk.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>

#include "backups/place.h"
#include "base/concat.h"
#include "base/file.h"
#include "base/problem.h"
#include "base/text.h"
#include "ops/program.h"

namespace comanda::backups {
namespace {

constexpr int64_t kAskMs = 30'000;
// A file system that was not unmounted is repaired when it is mounted.
constexpr int64_t kMountMs = 10 * 60'000;
constexpr int kVolumesMax = 8;  // one above the other

[[noreturn]] void Refuse(std::string text) {
  throw Refusal(Problem::kValidationFailed, std::move(text));
}

std::string NumbersOf(dev_t device) {
  return std::to_string(major(device)) + ":" + std::to_string(minor(device));
}

// Nothing if the path is no block device.
std::optional<dev_t> BlockDevice(const std::string& path) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) != 0 || !S_ISBLK(found.st_mode)) return std::nullopt;
  return found.st_rdev;
}

std::string RealPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&::free)> real(::realpath(path.c_str(), nullptr), &::free);
  return real ? std::string(real.get()) : path;
}

// "8:17\n" as /sys has it.
std::optional<dev_t> DeviceIn(const std::string& numbers) {
  char* end = nullptr;
  const unsigned long first = ::strtoul(numbers.c_str(), &end, 10);
  if (end == numbers.c_str() || *end != ':') return std::nullopt;
  const char* rest = end + 1;
  const unsigned long second = ::strtoul(rest, &end, 10);
  if (end == rest) return std::nullopt;
  return makedev(static_cast<unsigned>(first), static_cast<unsigned>(second));
}

// Adds the names of the whole disks below a device: "sda" for its partition sda2; for a volume,
// those of all its parts.
void AddDisksBelow(dev_t device, std::set<std::string>& disks, int depth = 0) {
  const std::string link = "/sys/dev/block/" + NumbersOf(device);
  const auto parts = DirectoriesIn(link + "/slaves");
  if (parts && !parts->empty() && depth < kVolumesMax) {
    for (const std::string& part : *parts) {
      const auto numbers = ReadFile("/sys/class/block/" + part + "/dev");
      const auto number = numbers ? DeviceIn(*numbers) : std::nullopt;
      if (number) AddDisksBelow(*number, disks, depth + 1);
    }
    return;
  }
  // /sys/devices/pci0000:00/…/block/sda/sda2
  const std::string target = RealPath(link);
  constexpr std::string_view kBlock = "/block/";
  const size_t at = target.rfind(kBlock);
  if (target == link || at == target.npos) return;
  const std::string rest = target.substr(at + kBlock.size());
  disks.insert(rest.substr(0, rest.find('/')));
}

// The device of the file system that a path is on; nothing for one without a device.
std::optional<dev_t> DeviceUnder(const std::string& path) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  if (major(found.st_dev) != 0) return found.st_dev;
  // File systems of several devices, such as btrfs, have numbers of their own.
  const auto mount = MountOn(MountPointOf(path));
  return mount ? BlockDevice(mount->source) : std::nullopt;
}

void RefuseDiskOfSystem(const std::string& device, dev_t number,
                        const std::string& data_directory) {
  std::set<std::string> own;
  AddDisksBelow(number, own);
  for (const std::string& path :
       std::array<std::string, 6>{"/", "/usr", "/var", "/boot", "/boot/efi", data_directory}) {
    const auto below = DeviceUnder(path);
    std::set<std::string> disks;
    if (below) AddDisksBelow(*below, disks);
    for (const std::string& disk : disks) {
      if (!own.contains(disk)) continue;
      Refuse(Concat({device, " is on ", disk, ", the disk of ", path,
                     ": a failure of that disk destroys the backups, too. Plug in another disk: "
                     "`lsblk -f` lists them"}));
    }
  }
}

std::map<std::string, std::string> AskBlkid(const std::string& device) {
  const ops::Said said = ops::RunProgram("blkid", {"-p", "-o", "export", device}, kAskMs);
  if (said.status == 8)
    Refuse(Concat(
        {device, " has several signatures of file systems: `wipefs ", device, "` lists them"}));
  // 2: it has none that is known.
  if (said.status != 0 && said.status != 2) {
    throw Fault(Fault::Kind::kInternal,
                Concat({"blkid ", device, " failed: ", Visible(Trimmed(said.text))}));
  }
  std::map<std::string, std::string> values;
  std::string_view rest = said.text;
  while (said.status == 0 && !rest.empty()) {
    const std::string_view line = TakePiece(rest, '\n');
    const size_t equals = line.find('=');
    if (equals == line.npos) continue;
    values[std::string(line.substr(0, equals))] = line.substr(equals + 1);
  }
  return values;
}

// "/dev/sdb1, /dev/sdb2"; empty if there is none.
std::string PartitionsOf(dev_t disk) {
  const std::string directory = "/sys/dev/block/" + NumbersOf(disk);
  std::vector<std::string> partitions;
  for (const std::string& name : DirectoriesIn(directory).value_or(std::vector<std::string>())) {
    if (IsThere(directory + "/" + name + "/partition")) partitions.push_back("/dev/" + name);
  }
  std::ranges::sort(partitions);
  return JoinedByCommas(partitions);
}

}  // namespace

bool Disk::IsNamedBy(const MountLine& line) const {
  const size_t equals = line.source.find('=');
  const std::string kind = AsciiUpper(line.source.substr(0, equals));
  if (equals == line.source.npos || line.source.starts_with('/')) {
    return BlockDevice(line.source) == number;
  }
  std::string value = line.source.substr(equals + 1);
  std::erase(value, '"');
  if (kind == "UUID") return AsciiEqualsIgnoreCase(value, uuid);
  if (kind == "PARTUUID") return !part_uuid.empty() && AsciiEqualsIgnoreCase(value, part_uuid);
  return kind == "LABEL" && !label.empty() && value == label;
}

bool Mount::IsOf(const Disk& disk) const {
  return number == disk.number || BlockDevice(source) == disk.number;
}

Disk FindDisk(const std::string& path, const std::string& data_directory) {
  const auto number = BlockDevice(path);
  if (!number) {
    Refuse(Concat({path, IsThere(path) ? " is no disk" : " is not there",
                   ": `lsblk -f` lists the disks and their file systems; name one as /dev/sdX1"}));
  }
  Disk disk{.path = RealPath(path), .number = *number};
  RefuseDiskOfSystem(disk.path, *number, data_directory);
  if (const std::string partitions = PartitionsOf(*number); !partitions.empty()) {
    Refuse(Concat({disk.path, " is a whole disk with partitions: name one of them, ", partitions}));
  }
  auto values = AskBlkid(disk.path);
  disk.uuid = values["UUID"];
  disk.type = values["TYPE"];
  disk.label = values["LABEL"];
  disk.part_uuid = values["PART_ENTRY_UUID"];
  const std::string make =
      Concat({"`mkfs.ext4 ", disk.path, "` makes one, AND DELETES ALL THAT IS ON IT"});
  if (disk.type.empty()) Refuse(Concat({disk.path, " has no file system: ", make}));
  if (!KnowsType(disk.type)) {
    Refuse(Concat({disk.path, " has ", Visible(disk.type),
                   ", which is no file system for backups (", KnownTypes(), " are): ", make}));
  }
  if (disk.uuid.empty() ||
      !std::ranges::all_of(disk.uuid, [](char c) { return IsAlphanumeric(c) || c == '-'; })) {
    Refuse(Concat({disk.path, " has a file system without a UUID: ", make}));
  }
  return disk;
}

// 36 35 98:0 /root /point options shared:1 - type source options
std::vector<Mount> Mounts() {
  std::vector<Mount> mounts;
  const std::string table = ReadFile("/proc/self/mountinfo").value_or("");
  std::string_view rest = table;
  while (!rest.empty()) {
    const std::string_view line = TakePiece(rest, '\n');
    std::vector<std::string_view> words;
    for (std::string_view left = line; !left.empty();) words.push_back(TakePiece(left, ' '));
    const auto dash = std::ranges::find(words, "-");
    if (words.size() < 5 || words.end() - dash < 3) continue;
    // The words are written as those of a line of fstab.
    const auto decoded = MountLines(Concat({dash[2], " ", words[4], "\n"}));
    if (decoded.empty()) continue;
    mounts.push_back({.number = DeviceIn(std::string(words[2])).value_or(0),
                      .point = decoded.front().point,
                      .source = decoded.front().source});
  }
  return mounts;
}

std::optional<Mount> MountOn(const std::string& point) {
  std::optional<Mount> seen;
  for (Mount& mount : Mounts()) {
    if (mount.point == point) seen = std::move(mount);
  }
  return seen;
}

void MountByTable(const Disk& disk, const std::string& point) {
  const ops::Said said = ops::RunProgram("mount", {disk.path}, kMountMs);
  // With the option `nofail`, mount says nothing of a disk that it does not find.
  const auto mount = MountOn(point);
  if (said.status == 0 && mount && mount->IsOf(disk)) return;
  throw Fault(Fault::Kind::kInternal,
              Concat({"mount ", disk.path, " failed: ", VisibleLines(Trimmed(said.text))}));
}

void Unmount(const std::string& point) {
  const ops::Said said = ops::RunProgram("umount", {point}, kMountMs);
  if (said.status == 0) return;
  throw Fault(Fault::Kind::kUnavailable,
              Concat({"umount ", point, " failed: ", VisibleLines(Trimmed(said.text))}));
}

void ReplaceMountTable(const std::string& content) {
  struct stat found = {};
  const mode_t mode = ::stat(kMountTable, &found) == 0 ? found.st_mode & 07777 : 0644;
  // Through a symbolic link, so that it stays one.
  ReplaceFile(RealPath(kMountTable), content, mode);
  if (::access("/run/systemd/system", F_OK) != 0) return;
  // systemd makes a unit for each line. If it does not, it reads the table at the next start.
  ops::RunProgram("systemctl", {"daemon-reload"}, kAskMs);
}

}  // namespace comanda::backups
