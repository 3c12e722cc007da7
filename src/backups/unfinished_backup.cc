#include "backups/unfinished_backup.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>

#include "backups/medium.h"
#include "backups/place.h"
#include "base/file.h"
#include "base/problem.h"
#include "base/random.h"
#include "db/read_only.h"

namespace comanda::backups {
namespace {

constexpr std::string_view kDirectory = "comanda-backup-unfinished.";
constexpr std::string_view kNote = "backup-unfinished.";
constexpr size_t kRandomLetters = 6;

bool IsNamed(std::string_view name, std::string_view start) {
  return name.starts_with(start) && name.size() == start.size() + kRandomLetters &&
         std::ranges::all_of(name.substr(start.size()), [](unsigned char c) { return isalnum(c); });
}

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// An empty Fd if another user owns the directory or file, or a running backup has locked it. Where
// the file system keeps no owners, each file may seem to be of another user.
Fd LockUnfinished(const std::string& path) {
  struct stat found = {};
  if (::lstat(path.c_str(), &found) != 0 || !(S_ISDIR(found.st_mode) || S_ISREG(found.st_mode)) ||
      (found.st_uid != ::geteuid() && !MayLackOwners(path))) {
    return Fd();
  }
  Fd entry(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!entry || ::flock(entry.get(), LOCK_EX | LOCK_NB) != 0) return Fd();
  return entry;
}

// Syncs every directory of the tree and, run as root, gives everything in it to the owner of the
// directory above.
void SettleTree(const std::string& path) {
  TakeOwnerOfDirectory(path);
  for (const std::string& name : FilesIn(path).value_or(std::vector<std::string>())) {
    TakeOwnerOfDirectory(path + "/" + name);
  }
  for (const std::string& name : DirectoriesIn(path).value_or(std::vector<std::string>())) {
    SettleTree(path + "/" + name);
  }
  SyncDirectory(path);
}

// Repeats until the directory is gone: another thread may still be writing files into it.
void RemoveDirectory(const std::string& path) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    RemoveAll(path);
    if (::access(path.c_str(), F_OK) != 0) return;
    ::usleep(10'000);
  }
}

}  // namespace

// The file in the data directory is written first, so that a SIGKILL leaves no directory that no
// file names.
UnfinishedBackup::UnfinishedBackup(const std::string& target, const std::string& data_directory)
    : target_(target) {
  MakePrivateDirectories(DirectoryOf(target));
  path_ = UnfinishedPathIn(DirectoryOf(target));
  // On a read-only disk no note can be left: the backup beside the target is found again by its
  // name (RemoveUnfinishedBackups).
  if (!data_directory.empty() && !db::DirectoryIsReadOnly(data_directory)) {
    note_ = data_directory + "/" + std::string(kNote) + path_.substr(path_.size() - kRandomLetters);
  }
  ::sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals_, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals_, &signals_before_);
  try {
    if (!note_.empty()) {
      // Not ReplaceFile(): a SIGKILL would leave its temporary file, whose name nobody looks for.
      const Fd note = CreateFile(note_, 0600);
      WriteAll(note, ResolvedAbove(DirectoryOf(target)) + "/" + NameOf(path_) + "\n", note_);
      SyncFile(note, note_);
      SyncDirectory(data_directory);
    }
    if (::mkdir(path_.c_str(), 0700) != 0) {
      throw Fault(Fault::Kind::kInternal,
                  "cannot make a directory beside " + target + ": " + std::strerror(errno));
    }
    lock_ = LockUnfinished(path_);
    signal_thread_ = std::jthread([this](std::stop_token stop) { WaitForSignal(std::move(stop)); });
  } catch (...) {
    Remove();
    throw;
  }
}

UnfinishedBackup::~UnfinishedBackup() {
  signal_thread_.request_stop();
  signal_thread_.join();
  if (!finished_) Remove();
  ::pthread_sigmask(SIG_SETMASK, &signals_before_, nullptr);
}

void UnfinishedBackup::AlsoRemove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  also_ = path;
}

void UnfinishedBackup::Finish() { FinishAs(target_); }

void UnfinishedBackup::FinishAs(const std::string& target) {
  SettleTree(path_);
  const std::lock_guard lock(mutex_);
  RenameDurably(path_, target);
  finished_ = true;
  if (!note_.empty()) ::unlink(note_.c_str());
}

void UnfinishedBackup::FinishFile(const std::string& target) {
  const std::lock_guard lock(mutex_);
  RenameDurably(also_, target);
  also_.clear();
  Remove();
  finished_ = true;
}

void UnfinishedBackup::Remove() {
  RemoveDirectory(path_);
  if (!also_.empty()) ::unlink(also_.c_str());
  if (!note_.empty()) ::unlink(note_.c_str());
}

// Removes the directory when a signal comes, and then lets the signal end the process as usual.
void UnfinishedBackup::WaitForSignal(std::stop_token stop) {
  const timespec wait{.tv_sec = 0, .tv_nsec = 50'000'000};
  while (!stop.stop_requested()) {
    const int signal = ::sigtimedwait(&signals_, nullptr, &wait);
    if (signal <= 0) continue;
    const std::lock_guard lock(mutex_);
    if (!finished_) Remove();
    ::signal(signal, SIG_DFL);
    ::pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
    ::kill(::getpid(), signal);
    ::_exit(128 + signal);
  }
}

std::string UnfinishedPathIn(const std::string& directory) {
  return directory + "/" + std::string(kDirectory) + std::to_string(100'000 + RandomBelow(900'000));
}

void RemoveBackup(const std::string& path) {
  const std::string unfinished = UnfinishedPathIn(DirectoryOf(path));
  RenameDurably(path, unfinished);
  RemoveAll(unfinished);
}

std::vector<std::string> RemoveUnfinishedBackups(const std::string& data_directory,
                                                 const std::string& beside_too) {
  std::set<std::string> candidates;
  const auto look_beside = [&](const std::string& beside) {
    for (const auto& names : {DirectoriesIn(beside), FilesIn(beside)}) {
      for (const std::string& other : names.value_or(std::vector<std::string>())) {
        if (IsNamed(other, kDirectory)) candidates.insert(beside + "/" + other);
      }
    }
  };
  if (!beside_too.empty()) look_beside(beside_too);
  std::vector<std::string> notes;
  for (const std::string& name : FilesIn(data_directory).value_or(std::vector<std::string>())) {
    if (!IsNamed(name, kNote)) continue;
    std::string path = ReadFile(data_directory + "/" + name).value_or("");
    if (path.find('\n') == path.npos) {  // its writer was interrupted before it made the directory
      ::unlink((data_directory + "/" + name).c_str());
      continue;
    }
    path = path.substr(0, path.find('\n'));
    if (!IsNamed(NameOf(path), kDirectory)) continue;
    notes.push_back(data_directory + "/" + name);
    look_beside(DirectoryOf(path));
  }
  std::vector<std::string> removed;
  for (const std::string& path : candidates) {
    const Fd lock = LockUnfinished(path);
    if (!lock) continue;
    RemoveDirectory(path);
    if (!IsThere(path)) removed.push_back(path);
  }
  for (const std::string& note : notes) {
    const std::string path = ReadFile(note).value_or("");
    // Keeps the file while the disk of the backup is not mounted: the directory is still on it.
    const bool is_away = ::access(DirectoryOf(path).c_str(), F_OK) != 0;
    if (!is_away && ::access(path.substr(0, path.find('\n')).c_str(), F_OK) != 0) {
      ::unlink(note.c_str());
    }
  }
  return removed;
}

}  // namespace comanda::backups
