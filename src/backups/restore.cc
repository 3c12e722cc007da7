#include "backups/restore.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/file.h"
#include "base/handle.h"
#include "base/problem.h"

namespace comanda::backups {
namespace {

constexpr std::string_view kRestoring = ".restoring-";
constexpr std::string_view kBefore = ".before-restore-";
constexpr const char* kUnfinished = "/unfinished-restore";
constexpr const char* kRestored = "/restored";

[[noreturn]] void Fail(std::string_view action, const std::string& path, int error = errno) {
  const bool is_full = error == ENOSPC || error == EDQUOT;
  throw Fault(is_full ? Fault::Kind::kDiskFull : Fault::Kind::kInternal,
              std::string(action) + " " + path + ": " + std::strerror(error));
}

// A second restore within the second, or after the clock was set back, gets a later name.
std::string FreeTime(const std::string& data_directory, UtcMs now) {
  constexpr int64_t kSecondMs = 1000;
  while (true) {
    const std::string time = TimeName(now);
    if (!IsThere(data_directory + std::string(kRestoring) + time) &&
        !IsThere(data_directory + std::string(kBefore) + time)) {
      return time;
    }
    now += kSecondMs;
  }
}

int Exchange(const std::string& one, const std::string& other) {
  return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
}

void Sync(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file || ::fsync(file.get()) != 0) Fail("cannot sync", path);
}

// Files first, then the directory that names them: until the last one is given away, its owner
// cannot enter the directory in which root works.
void OwnAndSync(const std::string& path, const Owner& owner) {
  const auto give = [&](const std::string& one, mode_t mode) {
    if (::geteuid() == 0 && ::lchown(one.c_str(), owner.user, owner.group) != 0) {
      Fail("cannot set the owner of", one);
    }
    if (::chmod(one.c_str(), mode) != 0) Fail("cannot set the mode of", one);
    Sync(one);
  };
  const auto files = FilesIn(path);
  const auto directories = DirectoriesIn(path);
  if (!files || !directories) Fail("cannot read", path);
  for (const std::string& file : *files) give(path + "/" + file, 0600);
  for (const std::string& directory : *directories) OwnAndSync(path + "/" + directory, owner);
  give(path, 0700);
}

// Removes it where no running restore works in it.
bool RemoveUnfinished(const std::string& path) {
  const auto lock = db::DirectoryLock::TryAcquire(path);
  if (!lock) return false;
  // The mark goes last: what is left of a removal is an unfinished restore, too.
  for (const auto& names : {FilesIn(path), DirectoriesIn(path)}) {
    if (!names) continue;
    for (const std::string& name : *names) {
      if ("/" + name != kUnfinished) RemoveAll(path + "/" + name);
    }
  }
  RemoveAll(path);
  return true;
}

std::vector<std::string> LeftBeside(const std::string& data_directory) {
  const std::string above = DirectoryOf(data_directory);
  const std::string start =
      data_directory.substr(data_directory.rfind('/') + 1) + std::string(kRestoring);
  std::vector<std::string> found;
  for (const std::string& name : DirectoriesIn(above).value_or(std::vector<std::string>())) {
    if (name.starts_with(start)) found.push_back(name.substr(start.size()));
  }
  return found;
}

// Whether the restore of that time has put its directory in place.
bool WasPutInPlace(const std::string& data_directory, const std::string& time) {
  std::optional<std::string> text;
  try {
    text = ReadFile(data_directory + kRestored);
  } catch (const Fault&) {
    return false;
  }
  return text && text->find("\ntime " + time + "\n") != std::string::npos;
}

std::vector<std::string> LookAtRestores(const std::string& data_directory, bool may_change) {
  std::vector<std::string> lines;
  for (const std::string& time : LeftBeside(data_directory)) {
    const std::string path = data_directory + std::string(kRestoring) + time;
    const std::string former = data_directory + std::string(kBefore) + time;
    if (may_change && ::rmdir(path.c_str()) == 0) continue;  // cut short at its beginning
    if (IsThere(path + kUnfinished)) {
      if (may_change && RemoveUnfinished(path)) {
        lines.push_back("removed what an interrupted restore left: " + path);
      }
    } else if (WasPutInPlace(data_directory, time) && !IsThere(former)) {
      if (may_change) RenameDurably(path, former);
      lines.push_back("a restore was interrupted when it was done: the former data directory is " +
                      (may_change ? former : path));
    } else {
      lines.push_back(path +
                      " is a copy of a backup that an interrupted restore did not put in place: "
                      "look (`comanda verify --data " +
                      path + "`) and delete it");
    }
  }
  return lines;
}

}  // namespace

std::string TimeName(UtcMs now) {
  std::string text = FormatInstant(now).substr(0, 19) + "Z";
  std::erase_if(text, [](char letter) { return letter == '-' || letter == ':'; });
  return text;
}

UnfinishedRestore::UnfinishedRestore(const std::string& data_directory, UtcMs now,
                                     std::optional<Owner> owner)
    : data_directory_(data_directory),
      time_(FreeTime(data_directory, now)),
      path_(data_directory + std::string(kRestoring) + time_) {
  struct stat above = {};
  if (::stat(DirectoryOf(data_directory).c_str(), &above) != 0) {
    Fail("cannot look at", DirectoryOf(data_directory));
  }
  struct stat present = {};
  if (::stat(data_directory.c_str(), &present) == 0) {
    if (present.st_dev != above.st_dev) {
      throw Refusal(Problem::kValidationFailed,
                    data_directory +
                        " is a mount point, and cannot change places with another directory: keep "
                        "the data in a directory below it, name that one with --data, here and in "
                        "the unit (`systemctl edit comanda`)");
    }
    owner = Owner{present.st_uid, present.st_gid};
  }
  owner_ = owner.value_or(Owner{above.st_uid, above.st_gid});
  if (::mkdir(path_.c_str(), 0700) != 0) {
    const int error = errno;
    if (error == EACCES || error == EPERM || error == EROFS) {
      throw Refusal(Problem::kValidationFailed,
                    "cannot make " + path_ + ": " + std::strerror(error) + "; run this as root");
    }
    Fail("cannot make", path_, error);
  }
  try {
    ReplaceFile(path_ + kUnfinished, "half a copy of a backup; the next restore removes it\n",
                0600);
    lock_ = db::DirectoryLock::TryAcquire(path_);
    RequireExchange();
  } catch (...) {
    RemoveAll(path_);
    throw;
  }
}

UnfinishedRestore::~UnfinishedRestore() {
  lock_.reset();
  if (!is_in_place_) RemoveUnfinished(path_);
}

// Before anything else is done: not every file system can.
void UnfinishedRestore::RequireExchange() {
  const std::string one = path_ + "/one", other = path_ + "/other";
  for (const std::string& directory : {one, other}) MakeDirectories(directory, 0700);
  const bool can = Exchange(one, other) == 0;
  const int error = errno;
  for (const std::string& directory : {one, other}) RemoveAll(directory);
  if (can) return;
  throw Refusal(Problem::kValidationFailed,
                "the file system of " + data_directory_ + " cannot exchange directories (" +
                    std::strerror(error) +
                    "): move the data to one that can, such as ext4, XFS or Btrfs");
}

void UnfinishedRestore::Complete(const std::string& from) {
  ReplaceFile(path_ + kRestored,
              "# `comanda restore` has put this directory here. Comanda reads this where the "
              "restore was\n# interrupted.\nfrom " +
                  from + "\ntime " + time_ + "\n",
              0600);
  OwnAndSync(path_, owner_);
  if (::unlink((path_ + kUnfinished).c_str()) != 0) Fail("cannot remove", path_ + kUnfinished);
  Sync(path_);
  Sync(DirectoryOf(path_));
}

std::string UnfinishedRestore::PutInPlace(const std::string& from) {
  Complete(from);
  const bool has_former = IsThere(data_directory_);
  const int failed = has_former ? Exchange(path_, data_directory_)
                                : ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD,
                                              data_directory_.c_str(), RENAME_NOREPLACE);
  if (failed != 0) {
    const int error = errno;
    ReplaceFile(path_ + kUnfinished, "a copy of a backup that was not put in place\n", 0600);
    Fail("cannot put in place", data_directory_, error);
  }
  is_in_place_ = true;
  Sync(DirectoryOf(data_directory_));
  if (!has_former) return "";
  const std::string former = data_directory_ + std::string(kBefore) + time_;
  RenameDurably(path_, former);
  return former;
}

std::vector<std::string> CleanUpRestores(const std::string& data_directory) {
  return LookAtRestores(data_directory, true);
}

std::vector<std::string> DescribeRestores(const std::string& data_directory) {
  return LookAtRestores(data_directory, false);
}

}  // namespace comanda::backups
