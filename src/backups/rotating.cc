#include "backups/rotating.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "backups/catalog.h"
#include "backups/medium.h"
#include "backups/place.h"
#include "backups/results.h"
#include "backups/rotation.h"
#include "backups/sealed.h"
#include "backups/sums.h"
#include "backups/unfinished_backup.h"
#include "base/file.h"
#include "base/handle.h"
#include "base/metrics.h"
#include "base/problem.h"

namespace comanda::backups {
namespace {

constexpr int64_t kMiB = 1024 * 1024;
// Certificates, settings, and what the file system needs for its own.
constexpr int64_t kBesideBytes = 4 * kMiB;

[[noreturn]] void Refuse(const std::string& text) {
  throw Refusal(Problem::kValidationFailed, text);
}

bool IsSameDisk(const std::string& one, const std::string& other) {
  struct stat a = {};
  struct stat b = {};
  return ::stat(one.c_str(), &a) == 0 && ::stat(other.c_str(), &b) == 0 && a.st_dev == b.st_dev;
}

std::string HowToMake(const std::string& target) {
  return "as root: install -d -m 700 -o comanda -g comanda '" + target + "'";
}

// A file system without owners gives all files to whom it was mounted for.
std::string HowToMount(const std::string& target) {
  const std::string user = NameOfUser(::geteuid());
  return target + " cannot be written by " + user +
         ", as whom this runs, and chown may not help: its file system keeps no owners. Mount it "
         "for that user, in /etc/fstab with the options nofail,uid=" +
         user + ",gid=" + user + ",umask=077";
}

void RequireWritable(const std::string& target) {
  if (::access(target.c_str(), R_OK | W_OK | X_OK) == 0) return;
  const int error = errno;
  if (error == EROFS) {
    Refuse(
        target +
        " is read-only. If the disk is mounted so, mount it for writing; if the unit "
        "comanda-backup may not write there, give it ReadWritePaths= (systemd/README.md, Back up)");
  }
  if (MayLackOwners(target)) Refuse(HowToMount(target));
  const std::string advice = AccessAdvice({target});
  Refuse(advice.empty() ? target + " cannot be written: " + std::strerror(error) : advice);
}

// Compares what can be read back with what was sealed.
void RequireSame(const std::string& file, const std::string& passphrase,
                 const std::string& directory) {
  const auto listed = ReadFile(directory + "/" + kSumsFile);
  const auto differences = Differences(listed.value_or(""), ReadSealed(file, passphrase));
  if (differences.empty()) return;
  throw Fault(Fault::Kind::kInternal, "the disk does not give back what was written to " +
                                          DirectoryOf(file) + ": " + differences.front());
}

std::vector<std::string> Remove(const std::vector<Backup>& backups) {
  std::vector<std::string> names;
  for (const Backup& backup : backups) {
    RemoveBackup(backup.path);
    names.push_back(backup.name);
  }
  return names;
}

// What there is to see of the backups in the target.
struct There {
  std::vector<Backup> all;
  std::vector<Backup> whole;
};

There LookAt(const std::string& target, const std::map<std::string, int64_t>& sizes, Made& made) {
  There there{.all = BackupsIn(target)};
  for (const Backup& one : there.all) {
    const auto known = sizes.find(one.name);
    std::string why;
    try {
      why = WhyNotWhole(one, known == sizes.end() ? 0 : known->second);
    } catch (const Fault& fault) {
      why = fault.cause;
    } catch (const Refusal& refusal) {
      why = refusal.detail;
    }
    if (why.empty()) {
      there.whole.push_back(one);
      if (one.is_sealed) made.sizes[one.name] = SizeOf(one.path);
    } else {
      made.not_whole.push_back(one.name + " is damaged or incomplete: " + why);
    }
  }
  return there;
}

// Of the whole ones, those that the rule does not keep; of the others, those that it would not keep
// if they were whole.
std::vector<Backup> Gone(const There& there, const RotationRule& rule) {
  std::vector<Backup> gone = Superfluous(there.whole, rule);
  for (const Backup& one : Superfluous(there.all, rule)) {
    const auto is_same = [&](const Backup& other) { return other.name == one.name; };
    if (std::ranges::none_of(there.whole, is_same)) gone.push_back(one);
  }
  return gone;
}

}  // namespace

void MakeTarget(const config::Options& options, const std::string& target) {
  const std::string above = DirectoryOf(target);
  if (LiesInside(target, options.data_directory) || !UnmountedPoint(target).empty() ||
      ::access(above.c_str(), F_OK) != 0 || IsSameDisk(above, "/")) {
    return;
  }
  if (::mkdir(target.c_str(), 0700) != 0 || ::geteuid() != 0) return;
  struct stat owner = {};
  if (::stat(options.data_directory.c_str(), &owner) != 0) return;
  // File systems without owners refuse this: the service's user may then write everywhere, or
  // nowhere.
  if (::lchown(target.c_str(), owner.st_uid, owner.st_gid) != 0) return;
}

void PrepareTarget(const config::Options& options, const std::string& target) {
  if (LiesInside(target, options.data_directory)) {
    Refuse(target + " is or lies inside the data directory " + options.data_directory +
           ": the backup would be lost with the data; name a directory on another disk (setting "
           "backup_to)");
  }
  const std::string former = ResultOf(options.data_directory, target).mount_point;
  if (const std::string point = UnmountedSince(target, former); !point.empty()) {
    Refuse(target + ": the disk with the backups is not mounted on " + point +
           " any more, so that the backup would be on the wrong disk; put the disk in and mount "
           "it, or name another directory (setting backup_to)");
  }
  if (const std::string point = UnmountedPoint(target); !point.empty()) {
    Refuse(target + ": nothing is mounted on " + point +
           ", so that the backup would be on the wrong disk; put the disk in and mount it, or name "
           "another directory (setting backup_to)");
  }
  MakeTarget(options, target);
  struct stat found = {};
  if (::stat(target.c_str(), &found) != 0) {
    const int error = errno;
    if (error == ENOENT) {
      Refuse(
          target +
          " is missing. If it is on a disk that is not mounted, mount it; if it is to be made, " +
          HowToMake(target));
    }
    Refuse(target + " cannot be used: " + std::strerror(error) +
           (error == EACCES ? ". " + AccessAdvice({target}) : "") +
           "; name another directory (setting backup_to)");
  }
  if (!S_ISDIR(found.st_mode)) {
    Refuse(target + " is a file, and should be a directory: name another one (setting backup_to)");
  }
  RequireWritable(target);
  if (!options.backup_passphrase_file.empty() &&
      LiesInside(options.backup_passphrase_file, target)) {
    Refuse(options.backup_passphrase_file + " lies in " + target +
           ", beside the backups that it opens: keep it elsewhere");
  }
}

bool IsReadByItsOwnerAlone(const std::string& path) {
  struct stat above = {};
  const bool is_given = ::geteuid() == 0 && ::stat(DirectoryOf(path).c_str(), &above) == 0;
  const uid_t owner = is_given ? above.st_uid : ::geteuid();
  return IsPrivate(path, owner) && IsPrivate(path + "/live.db", owner);
}

bool LeavesRoomForOrders(int64_t bytes, db::SpaceSettings space) {
  space.ballast_bytes = 0;  // the server makes and keeps the ballast
  metrics::Registry metrics;
  return db::DiskSpace(space, metrics).HasRoom(bytes);
}

void RequireRoom(const std::string& directory, int64_t bytes, const db::SpaceSettings& space) {
  if (IsSameDisk(directory, space.directory)) {
    if (LeavesRoomForOrders(bytes, space)) return;
    throw Fault(Fault::Kind::kDiskFull, "a backup on the disk of " + space.directory +
                                            " would leave too little space for orders: name a "
                                            "directory on another disk");
  }
  struct statvfs disk = {};
  if (::statvfs(directory.c_str(), &disk) != 0) return;  // writing will say what is wrong
  const auto free_bytes = static_cast<int64_t>(disk.f_bavail * disk.f_frsize);
  if (free_bytes >= bytes + kBesideBytes) return;
  std::string text = "the disk of " + directory + " has " + std::to_string(free_bytes / kMiB) +
                     " MiB free, and a backup needs " +
                     std::to_string((bytes + kBesideBytes) / kMiB + 1) +
                     ": take a larger disk, or keep fewer backups (setting backup_keep)";
  const std::vector<Backup> there = BackupsIn(directory);
  if (there.size() > kAlwaysKept) text += " and delete the oldest by hand, " + there.back().path;
  throw Fault(Fault::Kind::kDiskFull, std::move(text));
}

Copied SealInto(const std::string& directory, const Making& making,
                const std::function<std::string(bool is_damaged)>& name, std::string& path) {
  const int64_t bytes = DatabaseBytes(making.options);
  const std::string scratch = ScratchDirectory(making.options.data_directory);
  RequireRoom(scratch, bytes, making.space);
  RequireRoom(directory, bytes, making.space);
  UnfinishedBackup plain(scratch + "/plain-backup", making.options.data_directory);
  Copied copied = CopyDataDirectory(making.options, plain.path(), making.count_rows, making.clock);
  const std::string sealed = UnfinishedPathIn(directory);
  plain.AlsoRemove(sealed);
  const Fd locked = Seal(plain.path(), sealed, making.passphrase);
  RequireSame(sealed, making.passphrase, plain.path());
  path = directory + "/" + name(copied.is_damaged);
  plain.FinishFile(path);
  return copied;
}

Made BackUpInto(const std::string& target, const Making& making,
                const std::map<std::string, int64_t>& sizes) {
  PrepareTarget(making.options, target);
  RemoveUnfinishedBackups(making.options.data_directory, target);
  const bool is_sealed = !making.passphrase.empty();
  const auto name = [&](bool is_damaged) {
    return NameOfBackup(NextNumber(target), making.clock.Now(), is_sealed) +
           std::string(is_damaged ? kDamagedEnd : "");
  };
  Made made;
  if (is_sealed) {
    made.copied = SealInto(target, making, name, made.path);
  } else {
    UnfinishedBackup unfinished(target + "/plain-backup", making.options.data_directory);
    RequireRoom(target, DatabaseBytes(making.options), making.space);
    made.copied =
        CopyDataDirectory(making.options, unfinished.path(), making.count_rows, making.clock);
    made.path = target + "/" + name(made.copied.is_damaged);
    unfinished.FinishAs(made.path);
    made.is_private = IsReadByItsOwnerAlone(made.path);
  }
  const There there = LookAt(target, sizes, made);
  if (made.copied.is_damaged) {
    std::vector<Backup> older = DamagedIn(target);
    if (!older.empty()) older.erase(older.begin());
    made.removed = Remove(older);
  } else {
    made.removed =
        Remove(Gone(there, {.daily = static_cast<size_t>(making.options.backup_keep),
                            .weekly = static_cast<size_t>(making.options.backup_keep_weekly)}));
  }
  for (const std::string& gone : made.removed) made.sizes.erase(gone);
  return made;
}

}  // namespace comanda::backups
