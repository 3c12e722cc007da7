#include "commands/repair.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "app/embedded.h"
#include "app/storage.h"
#include "app/environment.h"
#include "app/served.h"
#include "backups/restore.h"
#include "base/file.h"
#include "base/problem.h"
#include "commands/lock_holder.h"
#include "db/file_identity.h"
#include "db/read_only.h"
#include "integrity/repair.h"

namespace comanda::commands {
namespace {

constexpr std::string_view kBefore = ".before-repair-";

db::DirectoryLock Lock(const std::string& data) {
  if (db::DirectoryIsReadOnly(data)) {
    throw Fault(Fault::Kind::kDiskReadOnly,
                "the disk of " + data + " is read-only: nothing can be repaired on it");
  }
  auto lock = db::DirectoryLock::TryAcquire(data);
  if (lock) return *std::move(lock);
  const auto process = FindLockHolder(doctor::Machine(), data).value_or(0);
  throw Refusal(Problem::kValidationFailed,
                (process > 0 ? "process " + std::to_string(process) : "another process") +
                    " works in " + data +
                    ": stop the server first (systemctl stop comanda), and start it afterwards");
}

// A repair that was interrupted between the two steps of PutInPlace() has left a second name of the
// file that is still in its place.
void RemoveSecondNames(const std::string& path) {
  struct stat present = {};
  if (::stat(path.c_str(), &present) != 0) return;
  const std::string start = path.substr(path.rfind('/') + 1) + std::string(kBefore);
  for (const std::string& name : FilesIn(DirectoryOf(path)).value_or(std::vector<std::string>())) {
    const std::string other = DirectoryOf(path) + "/" + name;
    struct stat found = {};
    if (!name.starts_with(start) || ::lstat(other.c_str(), &found) != 0) continue;
    if (found.st_ino == present.st_ino) ::unlink(other.c_str());
  }
}

}  // namespace

Repair::Repair(const config::Options& options)
    : options_(options), lock_(Lock(options.data_directory)) {}

// An index is sorted in files beside the database.
void Repair::RequireRoom(int64_t bytes) const {
  constexpr int64_t kMebibyte = 1024 * 1024;
  struct statvfs disk = {};
  if (::statvfs(options_.data_directory.c_str(), &disk) != 0) return;  // writing will say it
  const auto unit = static_cast<int64_t>(disk.f_frsize);
  const db::SpaceSettings space =
      db::ScaledTo(static_cast<int64_t>(disk.f_blocks) * unit, app::SpaceOf(options_));
  const int64_t needed = bytes + bytes / 4 + space.orders_only_bytes;
  const int64_t missing = needed - static_cast<int64_t>(disk.f_bavail) * unit;
  if (missing <= 0) return;
  throw Fault(Fault::Kind::kDiskFull,
              "the disk of " + options_.data_directory + " has too little space for a copy of " +
                  std::to_string(bytes / kMebibyte + 1) +
                  " MiB beside the database: " + std::to_string(missing / kMebibyte + 1) +
                  " MiB are missing; nothing was changed");
}

// A second name for the file, which stays in its place.
std::string Repair::SetAside(const std::string& path) const {
  constexpr int64_t kSecondMs = 1000;
  UtcMs now = SystemClock().Now();
  std::string former;
  do {
    former = path + std::string(kBefore) + backups::TimeName(now);
    now += kSecondMs;
  } while (IsThere(former));
  if (::link(path.c_str(), former.c_str()) != 0) {
    throw Fault(Fault::Kind::kInternal, "cannot keep " + path + " as " + former + ": " +
                                            std::strerror(errno) + "; nothing was changed");
  }
  SyncDirectory(options_.data_directory);
  return former;
}

std::optional<Repair::Done> Repair::TryDatabase(auth::Mode mode) const {
  const std::string path = app::DatabasePath(mode, options_);
  RemoveSecondNames(path);
  const integrity::Findings found =
      integrity::VerifyPages(path, integrity::FileState::kInUse, SystemClock()).damage;
  integrity::RemoveUnfinishedRepair(path);  // its space is needed
  if (!integrity::MayBeRepaired(found)) return std::nullopt;
  RequireRoom(SizeOf(path) + SizeOf(path + "-wal"));
  Done done{.report = integrity::MakeSoundCopy(path, app::SchemaKnown(), SystemClock()),
            .former = ""};
  const std::string copy = integrity::RepairedPath(path);
  app::NoteSuccessor(options_.data_directory, std::string(Name(mode)) + ".db",
                     {.file = db::FileIdentity(copy)});
  done.former = SetAside(path);
  RenameDurably(copy, path);
  return done;
}

}  // namespace comanda::commands
