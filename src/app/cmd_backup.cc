#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "app/arguments.h"
#include "app/commands.h"
#include "app/control.h"
#include "app/environment.h"
#include "app/terminal.h"
#include "app/verification.h"
#include "backups/unfinished_backup.h"
#include "base/file.h"
#include "base/problem.h"
#include "db/backup.h"
#include "db/disk_space.h"

namespace comanda::app {
namespace {

constexpr std::array kFlags = {
    kDataFlag,
    kHelpFlag,
};

std::string Help() {
  return "comanda backup TARGET [--data DIR]\n\n"
         "Makes the new directory TARGET, a whole data directory of its own: databases, settings "
         "and the\n"
         "certificates with their keys, those that the devices trust. Put it on another disk, and "
         "keep it\n"
         "secret. The server may be running. Each database is checked before the backup gets its "
         "name; what\n"
         "is damaged in it is copied as it is, and the exit code is then 1.\n\n"
         "To restore: stop the server, put a copy of TARGET in the place of the data directory, "
         "start.\n"
         "Never name TARGET itself with --data: what works in a backup makes it a database in "
         "use.\n\n" +
         DescribeFlags(kFlags);
}

int64_t BytesOf(const std::string& path) {
  struct stat found = {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_size : 0;
}

dev_t DiskOf(const std::string& path) {
  struct stat found = {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_dev : 0;
}

bool IsThere(const std::string& path) {
  struct stat found = {};
  return ::lstat(path.c_str(), &found) == 0 || errno != ENOENT;
}

void SayIfSameDisk(const config::Options& options, const std::string& target,
                   const std::string& made) {
  if (DiskOf(made) != DiskOf(options.data_directory)) return;
  const std::string mount_point = backups::UnmountedPoint(target);
  PrintError(target + " is on the same disk as the data" +
             (mount_point.empty() ? "" : ", for nothing is mounted on " + mount_point) +
             ": a disk that fails takes both; put a copy on another disk");
}

// Fault if the backup is on the disk of the data directory and would leave too little free space
// for orders.
void RequireRoom(const config::Options& options, const std::string& target) {
  if (DiskOf(target) != DiskOf(options.data_directory)) return;
  db::SpaceSettings settings = SpaceOf(options);
  settings.ballast_bytes = 0;  // the server makes and keeps the ballast
  metrics::Registry metrics;
  int64_t wanted = 0;
  for (const auth::Mode mode : {auth::Mode::kLive, auth::Mode::kTest}) {
    for (const char* part : {"", "-wal"}) wanted += BytesOf(DatabasePath(mode, options) + part);
  }
  if (db::DiskSpace(settings, metrics).HasRoom(wanted)) return;
  throw Fault(Fault::Kind::kDiskFull, "a backup on the disk of " + options.data_directory +
                                          " would leave too little space for orders: name a "
                                          "directory on another disk");
}

// `name` is relative to the data directory.
void CopyFile(const config::Options& options, const std::string& name, const std::string& to) {
  const auto content = ReadFile(options.data_directory + "/" + name);
  if (!content) return;
  const std::string copy = to + "/" + name;
  MakeDirectories(DirectoryOf(copy), 0700);
  ReplaceFile(copy, *content, 0600);
}

void CopyCertificates(const config::Options& options, const std::string& to) {
  const std::string directory = options.data_directory + "/tls";
  const auto names = FilesIn(directory);
  if (!names && errno != ENOENT) {  // ENOENT: no server has run in this directory yet
    throw Fault(Fault::Kind::kInternal, "cannot read " + directory + ": " + std::strerror(errno));
  }
  if (names) {
    for (const std::string& name : *names) {
      // Not copied, since a missing file means "used": a device may install the authority after the
      // backup was taken (ops/certificates.h).
      if (name != "ca.trust") CopyFile(options, "tls/" + name, to);
    }
  }
  // The files that the settings tls_certificate and tls_key name, if they are in the directory.
  const std::string inside = options.data_directory + "/";
  for (const std::string& path : {options.tls_certificate, options.tls_key}) {
    if (path.starts_with(inside)) {
      CopyFile(options, path.substr(inside.size()), to);
    } else if (!path.empty()) {
      PrintError(path + " is not in the backup: it lies outside the data directory");
    }
  }
}

// Copies the database and checks the copy. Returns the number of damaged rows, which the copy
// contains as they are.
size_t CopyDatabase(auth::Mode mode, const config::Options& options, const std::string& to) {
  const std::string name = std::string(Name(mode)) + ".db";
  db::BackUp(DatabasePath(mode, options), to + "/" + name, SystemClock());
  const auto verified = VerifyRows(to + "/" + name, SystemClock());
  // The check has made these files; they are empty, and no other process uses the copy.
  for (const char* part : {"-wal", "-shm"}) RemoveAll(to + "/" + name + part);
  const size_t damaged = verified ? verified->damage.size() : 0;
  Print(name + "  " + std::to_string(BytesOf(to + "/" + name)) + " bytes, checked" +
        (damaged == 0 ? "" : ": " + std::to_string(damaged) + " damaged") + "\n");
  return damaged;
}

// Copies the sandbox's database, if there is one. A failure is reported and does not make the
// backup fail, unless the disk is full.
void CopySandbox(const config::Options& options, const std::string& to) {
  if (!IsThere(DatabasePath(auth::Mode::kTest, options))) return;
  try {
    CopyDatabase(auth::Mode::kTest, options, to);
  } catch (const Fault& fault) {
    if (fault.kind == Fault::Kind::kDiskFull) throw;
    PrintError("the sandbox is not in the backup: " + fault.cause);
    for (const char* part : {"", "-wal", "-journal"}) RemoveAll(to + "/test.db.unfinished" + part);
  }
}

}  // namespace

int BackUp(Words words) {
  const std::optional<Arguments> arguments = ReadArguments(words, kFlags, Help);
  if (!arguments) return kExitDone;
  if (arguments->positional().size() != 1 || arguments->positional().front().empty()) {
    throw Refusal(Problem::kInvalidParameter,
                  "name the directory to make: comanda backup TARGET --data DIR");
  }
  std::string target = arguments->positional().front();
  while (target.size() > 1 && target.ends_with('/')) target.pop_back();
  const config::Options options = ReadControlOptions(*arguments);
  RequireDatabase(DatabasePath(auth::Mode::kLive, options));
  if (IsThere(target)) {
    throw Refusal(Problem::kValidationFailed,
                  target + " is there already, or below a file: name a directory that is not");
  }

  if (backups::LiesInside(target, options.data_directory)) {
    throw Refusal(Problem::kValidationFailed,
                  target + " lies inside the data directory " + options.data_directory +
                      ": it would be lost with it; name a directory on another disk");
  }
  for (const std::string& left :
       backups::RemoveUnfinishedBackups(options.data_directory, DirectoryOf(target))) {
    PrintError("removed what an interrupted backup left: " + left);
  }

  backups::UnfinishedBackup unfinished(target, options.data_directory);
  SayIfSameDisk(options, target, unfinished.path());
  RequireRoom(options, unfinished.path());
  CopyFile(options, "comanda.conf", unfinished.path());
  CopyCertificates(options, unfinished.path());
  CopySandbox(options, unfinished.path());
  // The last copy: it also syncs the directory, and with it the files above.
  const size_t damaged = CopyDatabase(auth::Mode::kLive, options, unfinished.path());
  unfinished.Finish();
  Print(target + " holds the whole data directory; keep it secret\n");
  if (damaged > 0) {
    PrintError(
        "the backup is made, but some of what it copied is damaged: `comanda verify --data " +
        options.data_directory + "` names it");
    return kExitRefused;
  }
  return kExitDone;
}

}  // namespace comanda::app
