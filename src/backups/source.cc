#include "backups/source.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "backups/sealed.h"
#include "backups/sums.h"
#include "base/file.h"
#include "base/handle.h"
#include "base/problem.h"
#include "db/migrate.h"

namespace comanda::backups {
namespace {

constexpr size_t kPieceBytes = 4 * 1024 * 1024;

enum class Kind : uint8_t { kNone, kFile, kDirectory, kOther };

Kind KindOf(const std::string& path) {
  struct stat found = {};
  if (::lstat(path.c_str(), &found) != 0) return Kind::kNone;
  if (S_ISREG(found.st_mode)) return Kind::kFile;
  return S_ISDIR(found.st_mode) ? Kind::kDirectory : Kind::kOther;
}

[[noreturn]] void Refuse(std::string text) {
  throw Refusal(Problem::kValidationFailed, std::move(text));
}

[[noreturn]] void Fail(std::string_view action, const std::string& path) {
  const int error = errno;
  const bool is_full = error == ENOSPC || error == EDQUOT;
  throw Fault(is_full ? Fault::Kind::kDiskFull : Fault::Kind::kInternal,
              std::string(action) + " " + path + ": " + std::strerror(error));
}

// The header of SQLite's file format.
class Header {
 public:
  static constexpr size_t kBytes = 100;

  explicit Header(const std::array<unsigned char, kBytes>& bytes) : bytes_(bytes) {}
  bool IsDatabase() const { return std::memcmp(bytes_.data(), "SQLite format 3", 16) == 0; }
  int64_t page_bytes() const {
    const int64_t stored = Number(16, 2);
    return stored == 1 ? 65'536 : stored;
  }
  int64_t pages() const { return Number(28, 4); }
  // Else a program that knows no count of pages wrote last.
  bool HasPages() const { return Number(24, 4) == Number(92, 4); }
  int64_t schema() const { return Number(60, 4); }
  int64_t application_id() const { return Number(68, 4); }

 private:
  int64_t Number(size_t at, size_t length) const {
    int64_t number = 0;
    for (size_t i = at; i < at + length; ++i) number = number * 256 + bytes_[i];
    return number;
  }
  const std::array<unsigned char, kBytes>& bytes_;
};

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
             ": this is no backup, or not the whole of one; name the directory that `comanda "
             "backup` has made");
    case Kind::kDirectory:
    case Kind::kOther:
      Refuse(path + " is no file: this is no backup, or it was changed; take another one");
  }
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) Fail("cannot open", path);
  std::array<unsigned char, Header::kBytes> bytes{};
  const ssize_t got = ::read(file.get(), bytes.data(), bytes.size());
  if (got < 0) Fail("cannot read", path);
  const Header header(bytes);
  if (got < static_cast<ssize_t>(bytes.size()) || !header.IsDatabase()) {
    Refuse(path + " is " + (got == 0 ? "empty" : "no database") +
           ": the backup is damaged, or not the whole of one; take another one");
  }
  Database database{.application_id = header.application_id(), .schema = header.schema()};
  if (database.application_id != db::kInUseId && database.application_id != db::kBackupId) {
    Refuse(path + " is the database of another program");
  }
  struct stat found = {};
  if (::fstat(file.get(), &found) != 0) Fail("cannot look at", path);
  if (header.HasPages() && found.st_size < header.pages() * header.page_bytes()) {
    database.damage = path + " has " + std::to_string(found.st_size) + " of " +
                      std::to_string(header.pages() * header.page_bytes()) +
                      " bytes: it is not the whole file";
  }
  return database;
}

// A directory in which a server works changes while it is copied.
void RequireUnused(const std::string& path) {
  const std::string lock = path + "/comanda.lock";
  const Fd file(::open(lock.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
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
  if (KindOf(source.path + "/" + kSumsFile) != Kind::kFile) {
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

int64_t SizeOf(const std::string& path) {
  struct stat found = {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_size : 0;
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
      source.damage.push_back(path + name + " is no directory");
    }
  }
  if (const Kind kind = KindOf(path + "/comanda.conf");
      kind != Kind::kNone && kind != Kind::kFile) {
    source.damage.push_back(path + "/comanda.conf is no file");
  }
  source.has_sandbox = KindOf(path + "/test.db") == Kind::kFile;
  if (!source.was_in_use) CompareSums(source);
  return source;
}

Source Unsealed(const std::string& file, const std::string& to, const std::string& passphrase,
                int64_t schema_known) {
  Unseal(file, to + "/unsealed", passphrase);
  Source source = Inspect(to + "/unsealed", schema_known);
  source.name = file;
  return source;
}

bool CopyOne(const std::string& from, const std::string& to, const std::string& name,
             const GoOn& go_on) {
  const std::string source = from + "/" + name;
  const std::string target = to + "/" + name;
  if (KindOf(source) != Kind::kFile) return false;
  const Fd in(::open(source.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!in) Fail("cannot open", source);
  MakeDirectories(DirectoryOf(target), 0700);
  if (source.starts_with(to + "/")) {
    if (::rename(source.c_str(), target.c_str()) != 0) Fail("cannot move", source);
    return true;
  }
  const Fd out(::open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!out) Fail("cannot make", target);
  TakeOwnerOfDirectory(target);
  std::string piece(kPieceBytes, '\0');
  while (true) {
    go_on();
    const ssize_t got = ::read(in.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) Fail("cannot read", source);
    if (got == 0) break;
    for (ssize_t done = 0; done < got;) {
      const ssize_t written =
          ::write(out.get(), piece.data() + done, static_cast<size_t>(got - done));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) Fail("cannot write", target);
      done += written;
    }
  }
  if (::fsync(out.get()) != 0) Fail("cannot sync", target);
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
