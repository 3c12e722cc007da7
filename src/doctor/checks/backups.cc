#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "backups/catalog.h"
#include "backups/place.h"
#include "backups/results.h"
#include "base/counted.h"
#include "base/file.h"
#include "base/problem.h"
#include "base/problem_text.h"
#include "doctor/checks.h"
#include "doctor/checks/disk.h"
#include "doctor/checks/named_files.h"
#include "doctor/checks/unit.h"

namespace comanda::doctor {
namespace {

constexpr int64_t kDayMs = 86'400'000;
constexpr int64_t kAgeMaxMs = 3 * kDayMs;
constexpr std::string_view kWhyOld = "What came after the last backup is lost with the disk.";
constexpr std::string_view kCommand = "comanda backup\nsystemctl status comanda-backup.timer";

std::string Minute(UtcMs at) {
  std::string text = FormatInstant(at).substr(0, 16);
  text[10] = ' ';
  return text + " UTC";
}

// What mounts a disk again, or finds it.
std::string MountCommand(const std::string& point) {
  // With the option nofail, mount says nothing of a disk that it does not find.
  if (backups::IsInTableOfMounts(point)) {
    return "lsblk -f     # the disk must be plugged in\nmount " + point;
  }
  return "lsblk -f     # plug the disk in; then: comanda disk use /dev/NAME " + point;
}

// A directory that is not there. Where the backups may have been on a disk that is away, nothing is
// said that makes the directory: the backups would lie on another disk.
Finding Missing(const Box& box, const std::string& target, const backups::Result& result,
                const std::string& last) {
  const std::string point = backups::MountPointOf(target);
  const bool is_unknown = result.good_at > 0 && result.mount_point.empty();
  const bool is_where_disks_are = target.starts_with("/mnt/") || target.starts_with("/media/") ||
                                  target.starts_with("/run/media/");
  if (is_unknown || (point == "/" && is_where_disks_are)) {
    return Warning("Backups go to " + target + ", which is not there: its disk is away." + last,
                   kWhyOld, "lsblk -f     # plug the disk in; then: comanda disk use /dev/NAME");
  }
  const std::string user = UserOf(box);
  return Warning("Backups go to " + target + ", which does not exist" +
                     (point == "/" ? "." : " on the disk that is mounted on " + point + ".") + last,
                 kWhyOld,
                 "install -d -m 700 -o " + user + " -g " + user + " " + target +
                     "\ncomanda backup --data " + box.options.data_directory);
}

// Whether the service may write there; each backup would fail. Nothing if it can.
std::optional<Finding> CheckWritable(const Box& box, const std::string& target) {
  // What is closed to the service; the target itself where it may not write.
  const auto closed = AsOwner(box, [&] {
    const std::string above = ClosedAbove(target);
    const bool is_open = ::access(target.c_str(), R_OK | W_OK | X_OK) == 0 || errno == EROFS;
    return !above.empty() ? above : is_open ? std::string() : target;
  });
  struct stat found {};
  if (!closed || closed->empty() || ::stat(closed->c_str(), &found) != 0) return std::nullopt;
  const std::string user = NameOfOwner(box);
  const std::string owner = NameOfUser(found.st_uid);
  const std::string start =
      "Backups go to " + target + ", and " + user + ", as whom the service runs, ";
  constexpr std::string_view kWhy = "No backup is made there.";
  if (*closed != target) {
    return Warning(start + "may not enter " + *closed + ": it belongs to " + owner + ".", kWhy,
                   "chmod o+x '" + *closed + "'");
  }
  const std::string what = start + "may not write there: it belongs to " + owner + ".";
  if (MayLackOwners(target)) {
    return Warning(what, kWhy,
                   "findmnt -T '" + target + "'     # mount it with nofail,uid=" + user +
                       ",gid=" + user + ",umask=077 in /etc/fstab");
  }
  const bool is_closed_to_owner = (found.st_mode & 0700) != 0700;
  return Warning(what, kWhy,
                 "chown " + user + ": '" + target + "'" +
                     (is_closed_to_owner ? " && chmod u+rwx '" + target + "'" : ""));
}

// Why the directory cannot be looked at; nothing if it can.
std::optional<Finding> CheckTarget(const Box& box, const std::string& target,
                                   const backups::Result& result) {
  const std::string last = result.good_at > 0
                               ? " The last backup there is of " + Minute(result.good_at) + "."
                               : " No backup was made there yet.";
  if (const auto point = backups::UnmountedSince(target, result.mount_point); !point.empty()) {
    return Warning("Backups go to " + target + ", and the disk with them is not mounted on " +
                       point + " any more." + last,
                   kWhyOld, MountCommand(point));
  }
  if (const std::string point = backups::UnmountedPoint(target); !point.empty()) {
    return Warning("Backups go to " + target + ", and no disk is mounted at " + point + "." + last,
                   kWhyOld, MountCommand(point));
  }
  struct stat found {};
  if (::stat(target.c_str(), &found) != 0 && errno == ENOENT) {
    return Missing(box, target, result, last);
  }
  if (auto finding = CheckWritable(box, target)) return finding;
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
  if (const std::string trouble = backups::TroubleOf(result, box.now);
      !trouble.empty() && result.begun_at > 0) {
    return Warning(trouble + ".", kWhyOld, kCommand);
  }
  if (all.empty()) {
    return Warning("There is no backup in " + target + " yet.",
                   "A disk that dies takes everything with it.", kCommand);
  }
  const backups::Backup& newest = all.front();
  const std::string text = std::to_string(all.size()) + " backups in " + target +
                           "; the newest is of " + Minute(newest.made_at);
  if (box.now - newest.made_at > kAgeMaxMs) {
    return Warning(
        text + ", " + Counted((box.now - newest.made_at) / kDayMs, "day ago.", "days ago."),
        kWhyOld, kCommand);
  }
  return Well(text + ".");
}

// Of which copies something was lost since they were made.
std::optional<Finding> CheckCopies(const std::string& target, const backups::Result& result,
                                   const std::string& data) {
  std::string path, first;
  int count = 0;
  for (const backups::Backup& one : backups::BackupsIn(target)) {
    const auto known = result.sizes.find(one.name);
    std::string why;
    try {
      why = backups::WhyNotWhole(one, known == result.sizes.end() ? 0 : known->second);
    } catch (const Fault& fault) {
      why = fault.cause;
    } catch (const Refusal& refusal) {
      why = InWords(refusal);
    }
    if (why.empty() || count++ > 0) continue;
    path = one.path;
    first = why;
  }
  if (count == 0) return std::nullopt;
  return Warning(std::to_string(count) + " of the backups in " + target +
                     (count == 1 ? " is" : " are") + " damaged or incomplete, such as " + path +
                     ": " + first + ".",
                 "They cannot be restored as they are, and do not count as kept ones.",
                 "comanda verify '" + path + "'     # what is lost\nmv '" + path + "' '" + path +
                     ".damaged'     # nothing is deleted\ncomanda backup --data " + data);
}

std::optional<Finding> CheckOpen(const Box& box, const std::string& target,
                                 const backups::Result& result) {
  if (!result.is_open || !box.options.backup_passphrase_file.empty()) return std::nullopt;
  return Warning("The file system of " + target +
                     " does not protect files from other users: everybody who can read the disk "
                     "can read the keys in the backups.",
                 "Whoever has the keys can pretend to be this box. Sealed backups are recommended.",
                 HowToSeal(box));
}

std::optional<Finding> CheckMedium(const Box& box, const std::string& target, const Disk& disk) {
  if (!disk.is_removable || !box.options.backup_passphrase_file.empty()) return std::nullopt;
  return Warning(
      "Backups to " + target + " are on a removable disk (" + disk.name + ") and not sealed.",
      "Whoever takes the disk has all orders, and the keys that devices trust.", HowToSeal(box));
}

}  // namespace

// Backups by the setting backup_to: how old the newest of each directory is, and whether one
// survives the disk of the data.
Findings CheckBackups(const Box& box) {
  const std::vector<std::string>& targets = box.options.backup_to;
  if (targets.empty()) {
    return {Warning("No backups are made: the setting backup_to is empty.",
                    "A disk that dies takes everything with it.",
                    "comanda config unset backup_to --data " + box.options.data_directory +
                        "     # or another disk: comanda disk use /dev/NAME")};
  }
  const Disk own = DiskOf(box.machine, box.options.data_directory);
  Findings findings;
  bool is_elsewhere = false;
  for (const std::string& target : targets) {
    const backups::Result result = box.is_data_readable
                                       ? backups::ResultOf(box.options.data_directory, target)
                                       : backups::Result{.target = target};
    const Disk disk = DiskOf(box.machine, target);
    is_elsewhere = is_elsewhere || disk.name != own.name || disk.name.empty() ||
                   !backups::UnmountedPoint(target).empty();
    if (auto finding = CheckTarget(box, target, result)) {
      findings.push_back(*std::move(finding));
      continue;
    }
    findings.push_back(CheckAge(box, target, result));
    for (auto& finding : {CheckCopies(target, result, box.options.data_directory),
                          CheckOpen(box, target, result), CheckMedium(box, target, disk)}) {
      if (finding) findings.push_back(*finding);
    }
  }
  if (!is_elsewhere) {
    findings.push_back(Warning("All backups are on the disk of the data (" + own.name + ").",
                               "A disk that dies takes everything with it.",
                               "lsblk -f     # plug another disk in; then: comanda disk use "
                               "/dev/NAME"));
  }
  return findings;
}

}  // namespace comanda::doctor
