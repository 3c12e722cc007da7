#include "backups/copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "backups/medium.h"
#include "backups/sums.h"
#include "base/counted.h"
#include "base/file.h"
#include "base/problem.h"
#include "db/sqlite/backup.h"

namespace comanda::backups {
namespace {

constexpr std::array<const char*, 2> kDatabases = {"live.db", "test.db"};

// `name` is relative to the data directory. A symbolic link to a file is followed: an owner may
// keep a certificate elsewhere. A pipe or device is left out, since reading it may not end.
void CopyFile(const config::Options& options, const std::string& name, const std::string& to,
              Copied& copied) {
  const std::string from = options.data_directory + "/" + name;
  struct stat found = {};
  if (::stat(from.c_str(), &found) == 0 && !S_ISREG(found.st_mode)) {
    copied.remarks.push_back(from + " is not in the backup: it is no file");
    return;
  }
  const auto content = ReadFile(from);
  if (!content) return;
  const std::string copy = to + "/" + name;
  MakePrivateDirectories(DirectoryOf(copy));
  WritePrivateFile(copy, *content);
}

// The files of a directory, if there is one, but the one named `except`.
void CopyFilesIn(const config::Options& options, const std::string& name, const std::string& to,
                 Copied& copied, std::string_view except = "") {
  const std::string directory = options.data_directory + "/" + name;
  const auto files = FilesIn(directory);
  if (!files && errno == ENOENT) return;
  if (!files) {
    throw Fault(Fault::Kind::kInternal, "cannot read " + directory + ": " + std::strerror(errno));
  }
  for (const std::string& file : *files) {
    if (file != except) CopyFile(options, name + "/" + file, to, copied);
  }
}

void CopyCertificates(const config::Options& options, const std::string& to, Copied& copied) {
  // Not ca.trust, since a missing file means "used": a device may install the authority after the
  // backup was taken (ops/certificates.h).
  CopyFilesIn(options, "tls", to, copied, "ca.trust");
  // The files that the settings tls_certificate and tls_key name, if they are in the directory.
  const std::string inside = options.data_directory + "/";
  for (const std::string& path : {options.tls_certificate, options.tls_key}) {
    if (path.starts_with(inside)) {
      const std::string name = path.substr(inside.size());
      if (!IsThere(to + "/" + name)) CopyFile(options, name, to, copied);
    } else if (!path.empty()) {
      copied.remarks.push_back(path + " is not in the backup: it lies outside the data directory");
    }
  }
}

void CopyDatabase(const std::string& name, const config::Options& options, const std::string& to,
                  const CountRows& count_rows, const Clock& clock, Copied& copied) {
  const std::string copy = to + "/" + name;
  db::BackUp(options.data_directory + "/" + name, copy, clock);
  const auto counted = count_rows(copy);
  std::string line = name + "  " + std::to_string(SizeOf(copy)) + " bytes";
  if (counted) {
    line += ", " + comanda::Counted(counted->orders, "order, ", "orders, ") +
            comanda::Counted(counted->events, "event", "events");
  }
  line += ", checked";
  if (counted && counted->damaged > 0) {
    line += ": " + std::to_string(counted->damaged) + " damaged";
    if (name == kDatabases[0]) copied.is_damaged = true;
  }
  copied.files.push_back(std::move(line));
}

// Copies the sandbox's database, if there is one. A failure is reported and does not make the
// backup fail, unless the disk is full.
void CopySandbox(const config::Options& options, const std::string& to, const CountRows& count_rows,
                 const Clock& clock, Copied& copied) {
  if (!IsThere(options.data_directory + "/test.db")) return;
  try {
    CopyDatabase("test.db", options, to, count_rows, clock, copied);
  } catch (const Fault& fault) {
    if (fault.kind == Fault::Kind::kDiskFull) throw;
    copied.remarks.push_back("the sandbox is not in the backup: " + fault.cause);
    for (const char* part :
         {"", "-wal", "-shm", ".unfinished", ".unfinished-wal", ".unfinished-journal"}) {
      RemoveAll(to + "/test.db" + part);
    }
  }
}

void CopySmallFiles(const config::Options& options, const std::string& to, Copied& copied) {
  CopyFile(options, "comanda.conf", to, copied);
  CopyCertificates(options, to, copied);
  CopyFilesIn(options, "providers.d", to, copied);
}

}  // namespace

std::string LiveDatabase(const config::Options& options) {
  return options.data_directory + "/" + kDatabases[0];
}

int64_t DatabaseBytes(const config::Options& options) {
  int64_t bytes = 0;
  for (const std::string name : kDatabases) {
    for (const char* part : {"", "-wal"}) {
      bytes += SizeOf(options.data_directory + "/" + name + part);
    }
  }
  return bytes;
}

std::vector<std::string> CopySmallFiles(const config::Options& options, const std::string& to) {
  MakePrivateDirectories(to);
  Copied copied;
  CopySmallFiles(options, to, copied);
  return copied.remarks;
}

Copied CopyDataDirectory(const config::Options& options, const std::string& to,
                         const CountRows& count_rows, const Clock& clock) {
  Copied copied;
  CopySmallFiles(options, to, copied);
  CopySandbox(options, to, count_rows, clock, copied);
  CopyDatabase(kDatabases[0], options, to, count_rows, clock, copied);
  WriteSums(to);
  return copied;
}

}  // namespace comanda::backups
