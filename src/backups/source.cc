#include "backups/source.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "backups/entries.h"
#include "backups/sealed.h"
#include "backups/sums.h"
#include "base/file.h"
#include "base/handle.h"
#include "base/problem.h"
#include "integrity/file_head.h"
#include "db/sqlite/migrate.h"

namespace comanda::backups {
namespace {

constexpr size_t kPieceBytes = 4 * 1024 * 1024;

[[noreturn]] void Refuse(std::string text) {
  throw Refusal(Problem::kValidationFailed, std::move(text));
}

[[noreturn]] void Fail(std::string_view action, const std::string& path) {
  const int error = errno;
  const bool is_full = error == ENOSPC || error == EDQUOT;
  throw Fault(is_full ? Fault::Kind::kDiskFull : Fault::Kind::kInternal,
              std::string(action) + " " + path + ": " + std::strerror(error));
}

struct Database {
  int64_t application_id = 0;
  int64_t schema = 0;
  std::optional<std::string> damage;
};

// Refusal where the file is no database of this program.
Database LookAt(const std::string& path) {
  switch (KindOf(path)) {
    case Kind::kFile:
      break;
    case Kind::kNone:
      Refuse("there is no " + path +
             ": this is no backup, or an incomplete one; name the directory that `comanda "
             "backup` has made");
    case Kind::kDirectory:
    case Kind::kOther:
      Refuse(path + " is no file but " + NameOfKind(path) +
             ": this is no backup, or it was changed; take another one");
  }
  const auto head = integrity::ReadFileHead(path);
  if (!head || !head->is_sqlite) {
    Refuse(path + " is " + (!head || head->bytes == 0 ? "empty" : "no database") +
           ": the backup is damaged or incomplete; take another one");
  }
  Database database{.application_id = head->application, .schema = head->schema};
  if (database.application_id != db::kInUseId && database.application_id != db::kBackupId) {
    Refuse(path + " is the database of another program");
  }
  if (head->bytes < head->expected_bytes) {
    database.damage = path + " has " + std::to_string(head->bytes) + " of " +
                      std::to_string(head->expected_bytes) +
                      " bytes: a part of the file is missing";
  }
  return database;
}

// A directory in which a server works changes while it is copied.
void RequireUnused(const std::string& path) {
  const std::string lock = path + "/comanda.lock";
  const Fd file(::open(lock.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return;
  if (::flock(file.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  Refuse("a server works in " + path + ": `comanda backup TARGET --data " + path +
         "` makes a backup of it, which can be restored");
}

// Whether CopyInto() takes the file that a line of Differences() begins with.
bool IsTaken(const std::string& line) {
  return line.starts_with("comanda.conf ") || line.starts_with("live.db ") ||
         line.starts_with("tls/") || line.starts_with("providers.d/");
}

// Added files that are not restored anyway are no damage: a note, or what SQLite makes beside a
// database that somebody has looked at. Selling does not depend on the sandbox.
void CompareSums(Source& source) {
  if (KindOf(source.path + "/" + kSumsFile) == Kind::kNone) {
    source.damage.push_back("there is no " + std::string(kSumsFile) +
                            ": the backup was copied in part, or an older program has made it");
    return;
  }
  for (std::string& line : CheckSums(source.path)) {
    if (line.starts_with("test.db ")) {
      source.has_sandbox = false;
      source.sandbox_damage = std::move(line);
    } else if (!line.ends_with(" was not there when the backup was made") || IsTaken(line)) {
      source.damage.push_back(std::move(line));
    }
  }
}

void CopyDatabase(const Source& source, const std::string& to, const std::string& name,
                  const GoOn& go_on) {
  CopyOne(source.path, to, name, go_on);
  if (source.was_in_use) CopyOne(source.path, to, name + "-wal", go_on);
}

}  // namespace

Source Inspect(const std::string& path, int64_t schema_known) {
  switch (KindOf(path + "/.")) {
    case Kind::kDirectory:
      break;
    case Kind::kNone:
    case Kind::kFile:
    case Kind::kOther:
      Refuse(KindOf(path) == Kind::kNone
                 ? "there is no " + path + ": name the backup; if it is on another disk, mount it"
                 : path + " is no backup: name the directory that `comanda backup` has made");
  }
  Source source{.path = path, .name = path};
  Database live = LookAt(path + "/live.db");
  if (live.schema > schema_known) {
    Refuse(db::OfNewerProgram(path + "/live.db", live.schema, schema_known));
  }
  RequireUnused(path);
  source.schema = live.schema;
  // A server that worked in a backup may have left all that it wrote in the log, and the header of
  // a backup.
  source.was_in_use =
      live.application_id == db::kInUseId || KindOf(path + "/served") == Kind::kFile;
  if (live.damage) source.damage.push_back(*std::move(live.damage));
  for (const char* name : {"/tls", "/providers.d"}) {
    const Kind kind = KindOf(path + name);
    if (kind != Kind::kNone && kind != Kind::kDirectory) {
      source.damage.push_back(path + name + " is no directory but " + NameOfKind(path + name));
    }
  }
  for (const char* name : {"/comanda.conf", "/served"}) {
    const Kind kind = KindOf(path + name);
    if (kind != Kind::kNone && kind != Kind::kFile) {
      source.damage.push_back(path + name + " is no file but " + NameOfKind(path + name));
    }
  }
  source.has_sandbox = KindOf(path + "/test.db") == Kind::kFile;
  if (!source.was_in_use) CompareSums(source);
  return source;
}

Source Unsealed(const std::string& file, const std::string& to, const std::string& passphrase,
                int64_t schema_known) {
  const std::string unsealed = to + "/unsealed";
  MakeDirectories(unsealed, 0700);
  UnsealInto(file, unsealed, passphrase);
  Source source = Inspect(unsealed, schema_known);
  source.name = file;
  return source;
}

bool CopyOne(const std::string& from, const std::string& to, const std::string& name,
             const GoOn& go_on) {
  const std::string source = from + "/" + name;
  const std::string target = to + "/" + name;
  if (KindOf(source) != Kind::kFile) return false;
  const Fd in = OpenFileIn(from, name);
  MakeDirectories(DirectoryOf(target), 0700);
  if (source.starts_with(to + "/")) {
    if (::rename(source.c_str(), target.c_str()) != 0) Fail("cannot move", source);
    return true;
  }
  RemoveAll(target);
  const Fd out = CreateFile(target, 0600);
  while (true) {
    go_on();
    const std::string piece = ReadUpTo(in, kPieceBytes, source);
    if (piece.empty()) break;
    WriteAll(out, piece, target);
  }
  SyncFile(out, target);
  return true;
}

void CopyAll(const std::string& from, const std::string& to, const std::string& name,
             const GoOn& go_on) {
  if (KindOf(from + "/" + name) != Kind::kDirectory) return;
  const auto files = FilesIn(from + "/" + name);
  if (!files) Fail("cannot read", from + "/" + name);
  for (const std::string& file : *files) CopyOne(from, to, name + "/" + file, go_on);
}

void CopyInto(const Source& source, const std::string& to, const GoOn& go_on) {
  CopyOne(source.path, to, "comanda.conf", go_on);
  CopyAll(source.path, to, "tls", go_on);
  // A missing one means that a device may have installed the authority (ops/certificates.h).
  RemoveAll(to + "/tls/ca.trust");
  CopyAll(source.path, to, "providers.d", go_on);
  CopyDatabase(source, to, "live.db", go_on);
  if (source.has_sandbox) CopyDatabase(source, to, "test.db", go_on);
}

int64_t BytesOf(const Source& source) {
  int64_t bytes = 0;
  for (const char* name : {"/live.db", "/test.db"}) {
    bytes += SizeOf(source.path + name);
    if (source.was_in_use) bytes += SizeOf(source.path + name + "-wal");
  }
  return bytes;
}

}  // namespace comanda::backups
