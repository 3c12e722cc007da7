#include <dirent.h>
#include <sys/stat.h>

#include <array>
#include <memory>
#include <string>

#include "app/arguments.h"
#include "app/commands.h"
#include "app/control.h"
#include "app/environment.h"
#include "app/terminal.h"
#include "base/file.h"
#include "base/problem.h"
#include "db/backup.h"
#include "db/disk_space.h"

namespace comanda::app {
namespace {

constexpr std::array kFlags = {
    Flag{"data", "DIR", "the data directory (default /var/lib/comanda)"},
    Flag{"help", "", "show this"},
};

std::string Help() {
  return "comanda backup TARGET [--data DIR]\n\n"
         "Makes the new directory TARGET, a whole data directory of its own: databases, settings "
         "and the\n"
         "certificate authority that the devices trust, with its key. Put it on another disk, and "
         "keep it\n"
         "secret. The server may be running. Each database is checked before the backup gets its "
         "name.\n\n"
         "To restore: stop the server, put a copy of TARGET in the place of the data directory, "
         "start.\n\n" +
         DescribeFlags(kFlags);
}

int64_t BytesOf(const std::string& path) {
  struct stat found = {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_size : -1;
}

dev_t DiskOf(const std::string& path) {
  struct stat found = {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_dev : 0;
}

// On the disk of the data directory a backup must leave what orders need.
void RequireRoom(const config::Options& options, const std::string& target) {
  if (DiskOf(target) != DiskOf(options.data_directory)) return;
  db::SpaceSettings settings = SpaceOf(options);
  settings.ballast_bytes = 0;  // the server's own affair
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

void CopyFile(const std::string& from, const std::string& to) {
  if (const auto content = ReadFile(from)) ReplaceFile(to, *content, 0600);
}

void CopyCertificates(const std::string& from, const std::string& to) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(from.c_str()), &::closedir);
  if (!entries) return;  // it never served
  MakeDirectories(to, 0700);
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string name = entry->d_name;
    if (!name.starts_with('.')) CopyFile(from + "/" + name, to + "/" + name);
  }
}

void CopyDatabases(const config::Options& options, const std::string& to) {
  for (const auth::Mode mode : {auth::Mode::kLive, auth::Mode::kTest}) {
    const std::string path = DatabasePath(mode, options);
    if (BytesOf(path) < 0) continue;
    const std::string name = std::string(Name(mode)) + ".db";
    db::BackUp(path, to + "/" + name, SystemClock());
    Print(name + "  " + std::to_string(BytesOf(to + "/" + name)) + " bytes, checked\n");
  }
}

}  // namespace

int BackUp(Words words) {
  const Arguments arguments = Arguments::Parse(words, kFlags);
  if (arguments.Has("help")) {
    Print(Help());
    return kExitDone;
  }
  if (arguments.positional().size() != 1 || arguments.positional().front().empty()) {
    throw Refusal(Problem::kInvalidParameter,
                  "name the directory to make: comanda backup TARGET --data DIR");
  }
  std::string target = arguments.positional().front();
  while (target.size() > 1 && target.ends_with('/')) target.pop_back();
  if (BytesOf(target) >= 0) {
    throw Refusal(Problem::kValidationFailed,
                  target + " is there already: name a directory that is not");
  }
  const config::Options options = ReadControlOptions(arguments);
  RequireDatabase(DatabasePath(auth::Mode::kLive, options));

  const std::string unfinished = target + ".unfinished";
  MakeDirectories(unfinished, 0700);
  RequireRoom(options, unfinished);
  CopyFile(options.data_directory + "/comanda.conf", unfinished + "/comanda.conf");
  CopyCertificates(options.data_directory + "/tls", unfinished + "/tls");
  CopyDatabases(options, unfinished);  // last: it syncs the directory
  RenameDurably(unfinished, target);
  Print(target + " holds the whole data directory; keep it secret\n");
  return kExitDone;
}

}  // namespace comanda::app
