#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "backups/catalog.h"
#include "backups/place.h"
#include "backups/results.h"
#include "doctor/checks.h"
#include "doctor/disk.h"

namespace comanda::doctor {
namespace {

constexpr int64_t kDayMs = 86'400'000;
constexpr int64_t kAgeMaxMs = 3 * kDayMs;
constexpr std::string_view kWhyOld = "What came after the last backup is lost with the disk.";
constexpr std::string_view kCommand =
    "comanda backup     # as root: runuser -u comanda -- comanda backup\n"
    "systemctl status comanda-backup.timer";

std::string Minute(UtcMs at) {
  std::string text = FormatInstant(at).substr(0, 16);
  text[10] = ' ';
  return text + " UTC";
}

// True for a place where disks are mounted. It must not be made as a directory: the backups would
// lie on the disk of the system.
bool IsOfAnotherDisk(const std::string& path) {
  return path.starts_with("/mnt/") || path.starts_with("/media/") ||
         path.starts_with("/run/media/");
}

backups::Result ResultOf(const Box& box, const std::string& target) {
  if (!box.is_data_readable) return {.target = target};
  for (backups::Result& one : backups::Results(box.options.data_directory)) {
    if (one.target == target) return std::move(one);
  }
  return {.target = target};
}

// Why the directory cannot be looked at; nothing if it can.
std::optional<Finding> CheckTarget(const Box& box, const std::string& target,
                                   const backups::Result& result) {
  const std::string last = result.good_at > 0
                               ? " The last backup there is of " + Minute(result.good_at) + "."
                               : " No backup was made there yet.";
  if (const std::string point = backups::UnmountedPoint(target); !point.empty()) {
    return Warning("Backups go to " + target + ", and no disk is mounted at " + point + "." + last,
                   kWhyOld, "lsblk\nmount " + point + "     # after plugging the disk in");
  }
  struct stat found {};
  if (::stat(target.c_str(), &found) != 0 && errno == ENOENT) {
    if (IsOfAnotherDisk(target)) {
      return Warning(
          "Backups go to " + target + ", which is away: no disk is mounted there." + last, kWhyOld,
          "lsblk     # plug the disk in, or mount it");
    }
    return Warning("Backups go to " + target + ", which does not exist." + last, kWhyOld,
                   "install -d -m 700 -o comanda -g comanda " + target +
                       "\ncomanda config set backup_to DIR --data " + box.options.data_directory +
                       "     # or another directory");
  }
  if (::access(target.c_str(), R_OK | X_OK) != 0) {
    return Well(target + " is not looked at: this user may not." + last);
  }
  return std::nullopt;
}

Finding CheckAge(const Box& box, const std::string& target, const backups::Result& result) {
  const std::vector<backups::Backup> all = backups::BackupsIn(target);
  if (!result.problem.empty()) {
    return Warning("The last backup to " + target + " failed: " + result.problem + ".", kWhyOld,
                   kCommand);
  }
  if (all.empty()) {
    return Warning("There is no backup in " + target + " yet.",
                   "A disk that dies takes everything with it.", kCommand);
  }
  const backups::Backup& newest = all.front();
  const std::string text = std::to_string(all.size()) + " backups in " + target +
                           "; the newest is of " + Minute(newest.made_at);
  if (box.now - newest.made_at > kAgeMaxMs) {
    return Warning(text + ", " + std::to_string((box.now - newest.made_at) / kDayMs) + " days ago.",
                   kWhyOld, kCommand);
  }
  return Well(text + ".");
}

std::optional<Finding> CheckMedium(const Box& box, const std::string& target, const Disk& disk) {
  if (!disk.is_removable || !box.options.backup_passphrase_file.empty()) return std::nullopt;
  return Warning(
      "Backups to " + target + " are on a removable disk (" + disk.name + ") and not sealed.",
      "Whoever takes the disk has all orders, and the keys that devices trust.",
      "comanda config set backup_passphrase_file FILE --data " + box.options.data_directory);
}

}  // namespace

// Backups by the setting backup_to: how old the newest of each directory is, and whether one
// survives the disk of the data.
Findings CheckBackups(const Box& box) {
  const std::vector<std::string>& targets = box.options.backup_to;
  if (targets.empty()) {
    return {Warning("No backups are made: the setting backup_to is empty.",
                    "A disk that dies takes everything with it.",
                    "comanda config set backup_to DIR --data " + box.options.data_directory)};
  }
  const Disk own = DiskOf(box.machine, box.options.data_directory);
  Findings findings;
  bool is_elsewhere = false;
  for (const std::string& target : targets) {
    const backups::Result result = ResultOf(box, target);
    const Disk disk = DiskOf(box.machine, target);
    is_elsewhere = is_elsewhere || disk.name != own.name || disk.name.empty() ||
                   !backups::UnmountedPoint(target).empty();
    if (auto finding = CheckTarget(box, target, result)) {
      findings.push_back(*std::move(finding));
      continue;
    }
    findings.push_back(CheckAge(box, target, result));
    if (auto finding = CheckMedium(box, target, disk)) findings.push_back(*std::move(finding));
  }
  if (!is_elsewhere) {
    findings.push_back(Warning("All backups are on the disk of the data (" + own.name + ").",
                               "A disk that dies takes everything with it.",
                               "lsblk\ncomanda config set backup_to " + targets.front() +
                                   ",/mnt/usb --data " + box.options.data_directory +
                                   "     # a directory of another disk"));
  }
  return findings;
}

}  // namespace comanda::doctor
