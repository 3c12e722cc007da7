#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "backups/disk.h"
#include "backups/mount_table.h"
#include "backups/place.h"
#include "base/concat.h"
#include "base/file.h"
#include "base/problem.h"
#include "base/text.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/control.h"
#include "commands/embedded.h"
#include "commands/terminal.h"
#include "config/options.h"
#include "ops/program.h"

namespace comanda::commands {
namespace {

constexpr std::array kVerbs = {Verb{"use", 2}, Verb{"forget", 1}};

constexpr std::array kFlags = {
    kDataFlag,
    kHelpFlag,
};

constexpr char kUsualPoint[] = "/media/usb";
constexpr char kDirectory[] = "/comanda";
constexpr int64_t kChownMs = 10 * 60'000;

[[noreturn]] void Refuse(std::string text) {
  throw Refusal(Problem::kValidationFailed, std::move(text));
}

void RequireRoot() {
  if (::geteuid() != 0) Refuse("run this as root: it changes what the machine mounts");
}

// The owner of the data directory, which is the service's user.
struct Owner {
  uid_t user = 0;
  gid_t group = 0;
};

Owner OwnerOf(const std::string& directory) {
  struct stat found = {};
  if (::stat(directory.c_str(), &found) != 0) {
    Refuse(Concat({"there is no data directory ", directory, ": name the server's with --data"}));
  }
  return {found.st_uid, found.st_gid};
}

std::string ReadTable() { return ReadFile(backups::kMountTable).value_or(""); }

// The directories in which the unit comanda-backup may write, and whose names the setting
// backup_to can hold.
std::string PointIn(const std::string& word) {
  const std::string point = WithoutSlash(word);
  const bool is_below = std::ranges::any_of(
      std::array{"/media/", "/mnt/", "/srv/"},
      [&](const std::string& directory) { return point.starts_with(directory); });
  const bool is_plain = std::ranges::all_of(point, [](char c) {
    return IsAlphanumeric(c) || c == '/' || c == '.' || c == '_' || c == '-';
  });
  if (!is_below || !is_plain || Concat({point, "/"}).find("/../") != std::string::npos) {
    throw Refusal(Problem::kInvalidParameter,
                  Concat({"MOUNTPOINT must be a directory below /media, /mnt or /srv, of letters, "
                          "digits, '.', '_' and '-', like ",
                          kUsualPoint, "; '", Visible(word), "' is none"}));
  }
  return point;
}

// Where our line mounts the disk already, else the usual place.
std::string UsualPoint(const backups::Disk& disk) {
  for (const backups::MountLine& line : backups::MountLines(ReadTable())) {
    if (line.IsOurs() && disk.IsNamedBy(line)) return line.point;
  }
  return kUsualPoint;
}

struct Present {
  bool has_line = false;    // in the table of mounts
  bool is_mounted = false;  // on the mount point
};

void RequireEmpty(const std::string& point) {
  struct stat found = {};
  if (::lstat(point.c_str(), &found) != 0) return;
  if (!S_ISDIR(found.st_mode) || backups::ResolvedAbove(point) != point) {
    Refuse(Concat({point, " is no directory, or below a symbolic link: name another mount point"}));
  }
  std::vector<std::string> names = DirectoriesIn(point).value_or(std::vector<std::string>());
  for (std::string& name : FilesIn(point).value_or(std::vector<std::string>())) {
    names.push_back(std::move(name));
  }
  if (names.empty()) return;
  Refuse(Concat({point, " has files on the disk of the system, such as ", Visible(names.front()),
                 ", which the mounted disk would hide: move them, `mv ", point, " ", point,
                 ".before`"}));
}

// Refusal if the disk is used in another way, or the mount point for something else.
Present Look(const backups::Disk& disk, const std::string& point) {
  Present present;
  for (const backups::Mount& mount : backups::Mounts()) {
    if (!mount.IsOf(disk) || mount.point == point) continue;
    Refuse(Concat({disk.path, " is mounted on ", Visible(mount.point), ": `umount ",
                   Visible(mount.point), "` first, or use it there: `comanda disk use ", disk.path,
                   " ", Visible(mount.point), "`"}));
  }
  if (const auto mount = backups::MountOn(point)) {
    if (!mount->IsOf(disk)) {
      Refuse(Concat({"something else is mounted on ", point, ": ", Visible(mount->source),
                     "; name another mount point"}));
    }
    present.is_mounted = true;
  }
  for (const backups::MountLine& line : backups::MountLines(ReadTable())) {
    const bool is_named = disk.IsNamedBy(line);
    if (is_named && line.point != point) {
      Refuse(
          Concat({"/etc/fstab mounts ", disk.path, " on ", Visible(line.point),
                  ": use it there, `comanda disk use ", disk.path, " ", Visible(line.point), "`"}));
    }
    if (!is_named && line.point == point) {
      Refuse(Concat({"/etc/fstab mounts another disk on ", point, " (", Visible(line.source),
                     "): ", line.IsOurs() ? "`comanda disk forget` first, or " : "",
                     "name another mount point"}));
    }
    if (!is_named) continue;
    present.has_line = true;
    if (!line.HasOption("nofail")) {
      PrintError(
          "the line of /etc/fstab for this disk lacks `nofail`: the machine does not start "
          "without the disk");
    }
  }
  if (!present.is_mounted) RequireEmpty(point);
  return present;
}

void RequireWritable(const std::string& point) {
  struct statvfs found = {};
  if (::statvfs(point.c_str(), &found) == 0 && (found.f_flag & ST_RDONLY) != 0) {
    Refuse(Concat({point,
                   " is read-only: the disk has a switch against writing, or is damaged "
                   "(`dmesg | tail`)"}));
  }
}

// The line and the mount; neither is left behind, nor said to be there, if the disk cannot be
// mounted and written.
void KeepMounted(const backups::Disk& disk, const std::string& point, const Owner& owner,
                 const Present& present) {
  const std::string table = ReadTable();
  MakeDirectories(point, 0755);
  std::string told = "/etc/fstab has a line for it already\n";
  if (!present.has_line) {
    const std::string line = backups::LineFor({.uuid = disk.uuid,
                                               .type = disk.type,
                                               .point = point,
                                               .user = owner.user,
                                               .group = owner.group});
    backups::ReplaceMountTable(backups::WithLine(table, line));
    told = Concat({"/etc/fstab has a new line: ", line, "\n"});
  }
  try {
    if (!present.is_mounted) backups::MountByTable(disk, point);
    RequireWritable(point);
  } catch (...) {
    if (!present.is_mounted && backups::MountOn(point)) backups::Unmount(point);
    if (!present.has_line) backups::ReplaceMountTable(table);
    throw;
  }
  Print(Concat({disk.path, " has ", disk.type, ", UUID ", disk.uuid, "\n", told,
                present.is_mounted ? "it is mounted on " : "mounted it on ", point, "\n"}));
}

// A disk of another box has backups of a user with another number.
void GiveToService(const std::string& directory, const Owner& owner) {
  const std::string name = Concat({owner.user, ":", owner.group});
  const ops::Said said = ops::RunProgram("chown", {"-R", "-h", name, directory}, kChownMs);
  if (said.status != 0) {
    throw Fault(Fault::Kind::kInternal,
                Concat({"chown ", directory, " failed: ", VisibleLines(Trimmed(said.text))}));
  }
}

void MakeDirectoryFor(const Owner& owner, const std::string& target, const backups::Disk& disk) {
  const bool is_new = ::mkdir(target.c_str(), 0700) == 0;
  struct stat found = {};
  if (::lstat(target.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) {
    Refuse(Concat({target, " cannot be made as a directory: rename what is there"}));
  }
  // The service must get through the top of the disk.
  const std::string point = DirectoryOf(target);
  struct stat top = {};
  if (::stat(point.c_str(), &top) == 0 && (top.st_mode & 0001) == 0 && top.st_uid != owner.user) {
    ::chmod(point.c_str(), (top.st_mode & 07777) | 0011);
  }
  if (found.st_uid != owner.user && !backups::IsWithoutOwners(disk.type)) {
    GiveToService(target, owner);
  }
  if (::lstat(target.c_str(), &found) != 0 || found.st_uid != owner.user) {
    Refuse(Concat({target, " does not belong to the service: `umount ", point,
                   "`, then this command again"}));
  }
  Print(Concat({is_new ? "made " : "it has ", target, ", for the service\n"}));
}

std::string SettingWith(const std::string& target, const config::Options& options) {
  std::vector<std::string> targets = options.backup_to;
  if (std::ranges::find(targets, target) != targets.end()) return JoinedByCommas(targets);
  // The default is on the disk of the system.
  if (targets == config::Defaults(options.data_directory).backup_to) targets.clear();
  targets.push_back(target);
  return JoinedByCommas(targets);
}

int Use(const Arguments& arguments) {
  const std::string& device = arguments.Word(1, "disk", "disk");
  std::string point;
  if (arguments.positional().size() > 2) point = PointIn(arguments.positional()[2]);
  RequireRoot();
  const config::Options options = ReadControlOptions(arguments);
  const Owner owner = OwnerOf(options.data_directory);
  const backups::Disk disk = backups::FindDisk(device, options.data_directory);
  if (point.empty()) point = UsualPoint(disk);
  const std::string target = point + kDirectory;
  const std::string value = SettingWith(target, options);
  // Read and checked before anything is changed.
  const config::FileChange setting(options.data_directory, {{"backup_to", value}});
  const Present present = Look(disk, point);

  KeepMounted(disk, point, owner, present);
  MakeDirectoryFor(owner, target, disk);
  if (value != JoinedByCommas(options.backup_to)) setting.Write();
  Print(Concat({"backups go to ", value, " (backup_to)\nthe first one: comanda backup\n"}));
  return kExitDone;
}

// The mount point to forget; nothing if there is none.
std::optional<std::string> PointToForget(const Arguments& arguments) {
  if (arguments.positional().size() > 1) return PointIn(arguments.positional()[1]);
  std::vector<std::string> points;
  for (const backups::MountLine& line : backups::MountLines(ReadTable())) {
    if (line.IsOurs()) points.push_back(line.point);
  }
  if (points.size() > 1) {
    Refuse(Concat({"several disks are in use: name one of ", JoinedByCommas(points)}));
  }
  if (points.empty()) return std::nullopt;
  return points.front();
}

void ForgetSetting(const config::Options& options, const std::string& target) {
  std::vector<std::string> targets = options.backup_to;
  if (std::erase(targets, target) == 0) return;
  std::optional<std::string> value;  // none left: the default
  if (!targets.empty()) value = JoinedByCommas(targets);
  const config::FileChange setting(options.data_directory, {{"backup_to", value}});
  setting.Write();
  Print(Concat({"backups go to ", JoinedByCommas(setting.options().backup_to), " (backup_to)\n"}));
}

// The line is last: what was interrupted goes on when this is called again.
int Forget(const Arguments& arguments) {
  RequireRoot();
  const config::Options options = ReadControlOptions(arguments);
  const std::optional<std::string> point = PointToForget(arguments);
  if (!point) {
    Print("no disk is in use: /etc/fstab has no line of `comanda disk use`\n");
    return kExitDone;
  }
  const std::string table = ReadTable();
  const std::string without = backups::WithoutOurLine(table, *point);
  const bool is_ours = without != table;
  if (is_ours && backups::MountOn(*point)) {
    backups::Unmount(*point);
    Print(Concat({"unmounted ", *point, "\n"}));
  }
  ForgetSetting(options, *point + kDirectory);
  if (is_ours) {
    backups::ReplaceMountTable(without);
    Print("took the line out of /etc/fstab\n");
  }
  Print(Concat({*point, " is not used any more; the backups stay on the disk\n"}));
  return kExitDone;
}

}  // namespace

int Disk(Words words) {
  const std::optional<Arguments> arguments = ReadArguments(words, kFlags, DiskHelp());
  if (!arguments) return kExitDone;
  const std::string_view verb = ReadVerb(*arguments, kVerbs, "disk");
  return verb == "use" ? Use(*arguments) : Forget(*arguments);
}

}  // namespace comanda::commands
