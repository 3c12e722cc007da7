#include "engine/connection.h"

#include "base/check.h"
#include "base/file.h"
#include "base/handle.h"
#include "base/text.h"
#include "engine/library.h"
#include "db/sqlite/file_calls.h"
#include "db/sqlite/log_writes.h"
#include "db/read_only.h"

#include <sqlite3.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>

namespace comanda::db {
namespace {

constexpr int kProgressSteps = 10'000;  // well under a millisecond
constexpr int kCopyPages = 512;
constexpr size_t kWriterStatementsMax = 256;
constexpr size_t kReaderStatementsMax = 128;

struct Limit {
  int id;
  int value;
};
// A text and a row: older programs, which took up to 16 MiB, left orders that can still be paid and
// moved.
constexpr int kTextBytesMax = 20 << 20;
constexpr Limit kLimits[] = {
    {SQLITE_LIMIT_LENGTH, kTextBytesMax}, {SQLITE_LIMIT_SQL_LENGTH, 100'000},
    {SQLITE_LIMIT_COLUMN, 200},           {SQLITE_LIMIT_EXPR_DEPTH, 50},
    {SQLITE_LIMIT_COMPOUND_SELECT, 5},    {SQLITE_LIMIT_FUNCTION_ARG, 16},
    {SQLITE_LIMIT_ATTACHED, 0},           {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50},
    {SQLITE_LIMIT_VARIABLE_NUMBER, 600},  {SQLITE_LIMIT_TRIGGER_DEPTH, 10},
};
constexpr Limit kProgramLimit = {SQLITE_LIMIT_VDBE_OP, 25'000};

struct Switch {
  int id;
  int on;
};
// The last one: no program depends on a value, or each statement with LIMIT $1 would be compiled
// at each run.
constexpr Switch kSwitches[] = {
    {SQLITE_DBCONFIG_DEFENSIVE, 1},       {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
    {SQLITE_DBCONFIG_DQS_DML, 0},         {SQLITE_DBCONFIG_DQS_DDL, 0},
    {SQLITE_DBCONFIG_ENABLE_FKEY, 1},     {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
    {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0}, {SQLITE_DBCONFIG_ENABLE_QPSG, 1},
};

std::string_view Or(const char* text, std::string_view other) {
  return text ? std::string_view(text) : other;
}

bool OutOfSpace(int system_error) { return system_error == ENOSPC || system_error == EDQUOT; }

Trouble OfTheDisk(int system_error) {
  if (system_error == EROFS) return Trouble::kReadOnly;
  return OutOfSpace(system_error) ? Trouble::kFull : Trouble::kIo;
}

Trouble Classify(int code, int system_error) {
  switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
      return Trouble::kNone;
    case SQLITE_FULL:
      return Trouble::kFull;
    case SQLITE_IOERR:
      if (code == SQLITE_IOERR_NOMEM) return Trouble::kPassing;
      if (code == SQLITE_IOERR_READ || code == SQLITE_IOERR_SHORT_READ) return Trouble::kUnread;
      return OfTheDisk(system_error);
    case SQLITE_CANTOPEN:
      return OfTheDisk(system_error);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_READONLY:
      return Trouble::kDamaged;
    case SQLITE_ABORT:
    case SQLITE_BUSY:
    case SQLITE_INTERRUPT:
    case SQLITE_LOCKED:
    case SQLITE_NOMEM:
    case SQLITE_PROTOCOL:
      return Trouble::kPassing;
    default:
      return Trouble::kOwn;
  }
}

Fault::Kind KindOf(Trouble trouble) {
  switch (trouble) {
    case Trouble::kFull:
      return Fault::Kind::kDiskFull;
    case Trouble::kReadOnly:
      return Fault::Kind::kDiskReadOnly;
    case Trouble::kUnread:
      return Fault::Kind::kUnread;
    case Trouble::kPassing:
    case Trouble::kIo:
      return Fault::Kind::kUnavailable;
    case Trouble::kNone:
    case Trouble::kDamaged:
    case Trouble::kOwn:
      return Fault::Kind::kInternal;
  }
  return Fault::Kind::kInternal;
}

// The one place where SQLite's codes become ours. The message names constraints and columns, never
// values.
Fault Translate(Trouble trouble, int code, std::string_view message, std::string_view doing) {
  std::string cause = "sqlite " + std::to_string(code) + " (" + std::string(message) + ")";
  if (!doing.empty()) cause += ": " + std::string(doing);
  const int kind = code & 0xff;
  if (kind == SQLITE_CORRUPT) cause += "; `comanda verify` names the damage and its remedy";
  if (kind == SQLITE_NOTADB) cause += "; restore a backup";
  return Fault(KindOf(trouble), std::move(cause));
}

[[noreturn]] void FailSystem(const std::string& doing) {
  const auto kind = OutOfSpace(errno) ? Fault::Kind::kDiskFull
                    : errno == EROFS  ? Fault::Kind::kDiskReadOnly
                                      : Fault::Kind::kInternal;
  throw Fault(kind, doing + ": " + std::strerror(errno));
}

bool Writes(Connection::Role role) {
  return role == Connection::Role::kWriter || role == Connection::Role::kCopy;
}

// As a URI (RFC 3986) with SQLite's parameter for a file that does not change.
std::string Frozen(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    const bool is_plain =
        IsAlphanumeric(c) || std::string_view("/-._~").find(c) != std::string_view::npos;
    const auto byte = static_cast<unsigned char>(c);
    if (is_plain) {
      uri += c;
    } else {
      uri += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return uri + "?immutable=1";
}

// One call of the library for the value, where sqlite3_column_type(), _text() and _bytes() would
// each look for it. A value without a lock of its own may be read because the library is built
// for one thread per connection (SQLITE_THREADSAFE=2).
sqlite3_value* ValueAt(const Statement& statement, int column) {
  return sqlite3_column_value(statement.handle, column);
}

bool IsBlank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == text.npos; }

}  // namespace

bool Statement::IsNull(int column) const {
  return sqlite3_value_type(ValueAt(*this, column)) == SQLITE_NULL;
}

int64_t Statement::Int(int column) const {
  sqlite3_value* const value = ValueAt(*this, column);
  if (sqlite3_value_type(value) != SQLITE_INTEGER) ThrowNot("number", sql, column);
  return sqlite3_value_int64(value);
}

std::string_view Statement::View(int column) const {
  sqlite3_value* const value = ValueAt(*this, column);
  const int type = sqlite3_value_type(value);
  if (type == SQLITE_NULL) return {};
  if (type != SQLITE_TEXT) ThrowNot("text", sql, column);
  const unsigned char* text = sqlite3_value_text(value);
  if (!text) throw std::bad_alloc();
  return {reinterpret_cast<const char*>(text), static_cast<size_t>(sqlite3_value_bytes(value))};
}

Connection::Connection(const std::string& path, Role role, const std::string& vfs,
                       const Clock& clock, Sharing sharing)
    : path_(path),
      clock_(clock),
      cached_max_(role == Role::kWriter ? kWriterStatementsMax : kReaderStatementsMax) {
  RequireLibrary();
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  flags |= Writes(role) ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  const bool is_frozen = role == Role::kFrozen || role == Role::kStill;
  if (is_frozen) flags |= SQLITE_OPEN_URI;
  const std::string name = is_frozen ? Frozen(path) : path;
  const std::string calls = WithFileCalls(vfs, sharing);
  const std::string through = role == Role::kWriter ? GatheringLogWrites(calls) : calls;
  const int code =
      sqlite3_open_v2(name.c_str(), &handle_, flags, through.empty() ? nullptr : through.c_str());
  try {
    if (code != SQLITE_OK) Fail(code, "open");
    Configure(role, sharing);
  } catch (const Fault& fault) {
    Close();
    const std::string advice =
        AccessAdvice({DirectoryOf(path), path, path + "-wal", path + "-shm"});
    throw Fault(fault.kind, (advice.empty() ? path : advice) + ": " + fault.cause);
  } catch (...) {
    Close();
    throw;
  }
}

Connection::~Connection() { Close(); }

void Connection::Configure(Role role, Sharing sharing) {
  if (sharing == Sharing::kAlone) Execute("PRAGMA locking_mode = EXCLUSIVE");
  sqlite3_busy_timeout(handle_, kBusyMs);
  for (const Switch& one : kSwitches) sqlite3_db_config(handle_, one.id, one.on, nullptr);
  for (const Limit& one : kLimits) sqlite3_limit(handle_, one.id, one.value);
  // Checks compile one large program over the whole schema.
  if (role == Role::kWriter || role == Role::kReader)
    sqlite3_limit(handle_, kProgramLimit.id, kProgramLimit.value);
  sqlite3_wal_autocheckpoint(handle_, 0);

  Execute("PRAGMA foreign_keys = ON");
  Execute("PRAGMA trusted_schema = OFF");
  Execute("PRAGMA cell_size_check = ON");
  Execute("PRAGMA mmap_size = 0");
  Execute("PRAGMA temp_store = MEMORY");
  Execute("PRAGMA recursive_triggers = ON");
  if (!Writes(role)) {
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    Execute("PRAGMA query_only = ON");
    Execute("PRAGMA cache_size = -1024");
    if (role == Role::kReader) query_max_ms_ = kQueryMaxMs;
    if (role == Role::kStill) query_max_ms_ = kGlanceMaxMs;
    if (query_max_ms_ > 0) {
      sqlite3_progress_handler(handle_, kProgressSteps, &Connection::OnProgress, this);
    }
    return;
  }
  if (role == Role::kCopy) Execute("PRAGMA locking_mode = EXCLUSIVE");
  // A file system that went read-only is opened read-only without a word.
  if (sqlite3_db_readonly(handle_, "main") != 0) Fail(SQLITE_READONLY, "open");
  // Of new files. A commit writes every page it touches, most of them for a few bytes: with pages
  // of 2048 bytes an order's life writes 1.5 times as much to the disk, and again 1.6 times as much
  // with 4096. With pages of 512 a row of most tables WITHOUT ROWID would be more than a quarter of
  // one, and be continued on a page of its own. Files of older programs keep their larger pages,
  // and wear the disk as they did: to change them an upgrade would write the whole file twice,
  // while the box does not sell.
  Execute("PRAGMA page_size = 1024");
  if (Text("PRAGMA journal_mode = WAL") != "wal") {
    throw Fault(Fault::Kind::kInternal, "the database cannot be put into WAL mode");
  }
  Execute("PRAGMA synchronous = FULL");
  Execute("PRAGMA secure_delete = FAST");
  Execute("PRAGMA journal_size_limit = 16777216");
  Execute("PRAGMA cache_size = -8192");
}

int Connection::OnProgress(void* self) noexcept {
  const auto* connection = static_cast<Connection*>(self);
  return connection->clock_.MonotonicMs() > connection->deadline_ms_ ? 1 : 0;
}

Statement& Connection::Take(Sql literal) {
  const char* const address = literal.text().data();
  const auto known = by_literal_.find(address);
  if (known != by_literal_.end() && !known->second->running) {
    RequireNoLostTransaction();
    return Begin(*known->second);
  }
  Statement& statement = Take(literal.text());
  if (statement.cached) by_literal_.emplace(address, &statement);
  return statement;
}

Statement& Connection::Take(std::string_view sql) {
  RequireNoLostTransaction();
  Statement* statement = nullptr;
  const auto found = cache_.find(sql);
  if (found != cache_.end() && !found->second->running) {
    statement = found->second.get();
  } else {
    std::unique_ptr<Statement> fresh = Prepare(sql);
    statement = fresh.get();
    if (found != cache_.end()) {
      extra_.push_back(std::move(fresh));
    } else {
      if (cache_.size() >= cached_max_) EvictOne();
      statement->cached = true;
      cache_.emplace(statement->sql, std::move(fresh));
    }
  }
  return Begin(*statement);
}

void Connection::RequireNoLostTransaction() const {
  if (transaction_required_ && !InTransaction()) {
    throw Fault(Fault::Kind::kUnavailable, "the transaction was rolled back by SQLite");
  }
}

Statement& Connection::Begin(Statement& statement) {
  if (query_max_ms_ > 0) deadline_ms_ = clock_.MonotonicMs() + query_max_ms_;
  statement.last_use = ++uses_;
  statement.running = true;
  statement.ended = false;
  ++running_;
  return statement;
}

void Connection::Give(Statement& statement) {
  sqlite3_reset(statement.handle);  // its code is that of the step, thrown already
  sqlite3_clear_bindings(statement.handle);
  statement.running = false;
  --running_;
  if (statement.cached) return;
  Finalize(statement);
  std::erase_if(extra_, [&](const auto& one) { return one.get() == &statement; });
}

void Connection::Bind(Statement& statement, const Bound* values, size_t count, Copies texts) {
  if (statement.positions.size() != count) {
    throw Fault(Fault::Kind::kInternal, "SQL with " + std::to_string(statement.positions.size()) +
                                            " parameters got " + std::to_string(count) +
                                            " values: " + statement.sql);
  }
  const auto lifetime = texts == Copies::kCopied ? SQLITE_TRANSIENT : SQLITE_STATIC;
  for (size_t i = 0; i < count; ++i) {
    const Bound& value = values[i];
    const int position = statement.positions[i];
    int code = SQLITE_OK;
    switch (value.kind()) {
      case Bound::Kind::kNull:  // a cleared parameter is null
        break;
      case Bound::Kind::kInteger:
        code = sqlite3_bind_int64(statement.handle, position, value.integer());
        break;
      case Bound::Kind::kText: {
        // Without an address SQLite would bind null instead of the empty text.
        const char* text = value.text().data() ? value.text().data() : "";
        code = sqlite3_bind_text64(statement.handle, position, text, value.text().size(), lifetime,
                                   SQLITE_UTF8);
        break;
      }
    }
    if (code != SQLITE_OK) Fail(code, statement.sql);
  }
}

bool Connection::Step(Statement& statement) {
  if (statement.ended) return false;
  const int code = sqlite3_step(statement.handle);
  if (code == SQLITE_ROW) return true;
  statement.ended = true;
  if (code != SQLITE_DONE) Fail(code, statement.sql);
  return false;
}

void Connection::Execute(std::string_view sql) {
  Statement& statement = Take(sql);
  try {
    while (Step(statement)) continue;
  } catch (...) {
    Give(statement);
    throw;
  }
  Give(statement);
}

void Connection::Finish(Statement& statement) {
  while (Step(statement)) continue;
}

int64_t Connection::FinishCounted(Statement& statement) {
  Finish(statement);
  return sqlite3_changes64(handle_);
}

int64_t Connection::Integer(std::string_view sql) {
  const std::string text = Text(sql);
  return text.empty() ? 0 : std::stoll(text);
}

std::string Connection::Text(std::string_view sql) {
  Statement& statement = Take(sql);
  std::string text;
  try {
    if (Step(statement)) {
      const unsigned char* value = sqlite3_column_text(statement.handle, 0);
      text = Or(reinterpret_cast<const char*>(value), "");
      while (Step(statement)) continue;
    }
  } catch (...) {
    Give(statement);
    throw;
  }
  Give(statement);
  return text;
}

void Connection::RunScript(std::string_view script) {
  const std::string text(script);
  const char* rest = text.c_str();
  while (!IsBlank(rest)) {
    sqlite3_stmt* handle = nullptr;
    const char* start = rest;
    // Without a length: the limit on SQL is then one statement's, not the whole script's.
    int code = sqlite3_prepare_v3(handle_, rest, -1, 0, &handle, &rest);
    const std::string_view statement(start, static_cast<size_t>(rest - start));
    if (code != SQLITE_OK) Fail(code, statement);
    if (!handle) continue;  // a comment
    while (sqlite3_step(handle) == SQLITE_ROW) continue;
    code = sqlite3_finalize(handle);  // tells the step's code and message once more
    if (code != SQLITE_OK) Fail(code, statement);
  }
}

void Connection::BeginReading() {
  ClearTrouble();
  Execute("BEGIN");
}

bool Connection::InTransaction() const { return sqlite3_get_autocommit(handle_) == 0; }

bool Connection::Rollback() noexcept {
  transaction_required_ = false;
  if (!InTransaction()) return true;
  try {
    Execute("ROLLBACK");
  } catch (const Fault&) {
    return !InTransaction();
  }
  return true;
}

void Connection::Fail(int code, std::string_view doing) {
  const int system_error = handle_ ? sqlite3_system_errno(handle_) : 0;
  Trouble trouble = Classify(code, system_error);
  if ((code & 0xff) == SQLITE_READONLY && DirectoryIsReadOnly(DirectoryOf(path_))) {
    trouble = Trouble::kReadOnly;
  }
  const bool is_worst = trouble > trouble_;
  trouble_ = std::max(trouble, trouble_);  // before the words, for which there may be no memory
  const char* message = handle_ ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
  const Fault fault = Translate(trouble, code, Or(message, "no message"), doing);
  if (is_worst) trouble_cause_ = fault.cause;
  if (PageUnreadable(trouble) || (code & 0xff) == SQLITE_CONSTRAINT) met_damage_ = true;
  throw fault;
}

Fault Connection::failure() const {
  if (trouble_ == Trouble::kNone) {
    return Fault(Fault::Kind::kInternal, "a job ended the transaction that is not its own");
  }
  return Fault(KindOf(trouble_), trouble_cause_);
}

std::unique_ptr<Statement> Connection::Prepare(std::string_view sql) {
  auto statement = std::make_unique<Statement>();
  statement->sql = sql;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v3(handle_, statement->sql.c_str(), -1,
                                      SQLITE_PREPARE_PERSISTENT, &statement->handle, &rest);
  if (code != SQLITE_OK) Fail(code, sql);
  CHECK(statement->handle != nullptr && IsBlank(rest), "SQL at a call is one statement");
  const int count = sqlite3_bind_parameter_count(statement->handle);
  for (int n = 1; n <= count; ++n) {
    const std::string name = "$" + std::to_string(n);
    const int position = sqlite3_bind_parameter_index(statement->handle, name.c_str());
    if (position == 0) {
      Finalize(*statement);
      throw Fault(Fault::Kind::kInternal, "SQL without its " + name + ": " + statement->sql);
    }
    statement->positions.push_back(position);
  }
  return statement;
}

void Connection::EvictOne() {
  auto oldest = cache_.end();
  for (auto one = cache_.begin(); one != cache_.end(); ++one) {
    if (one->second->running) continue;
    if (oldest == cache_.end() || one->second->last_use < oldest->second->last_use) oldest = one;
  }
  if (oldest == cache_.end()) return;  // all are running: a few more do no harm
  Finalize(*oldest->second);
  std::erase_if(by_literal_, [&](const auto& one) { return one.second == oldest->second.get(); });
  cache_.erase(oldest);
}

void Connection::Finalize(Statement& statement) {
  sqlite3_finalize(statement.handle);
  statement.handle = nullptr;
}

void Connection::Close() noexcept {
  for (auto& [sql, statement] : cache_) Finalize(*statement);
  for (auto& statement : extra_) Finalize(*statement);
  by_literal_.clear();
  cache_.clear();
  extra_.clear();
  sqlite3_close_v2(handle_);
  handle_ = nullptr;
}

std::string Quoted(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

void MakeDatabaseFile(const std::string& path) {
  const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
  Fd fd(::open(path.c_str(), flags, 0600));
  if (!fd && errno == EEXIST) return;
  if (!fd) FailSystem("cannot make " + path);
  TakeOwnerOfDirectory(path);
  SyncPath(DirectoryOf(path));
}

void SyncPath(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) FailSystem("cannot sync " + path);
}

void CopyInto(Connection& source, const std::string& copy, const std::string& vfs,
              const std::function<void()>& go_on) {
  for (const char* companion : {"", "-wal", "-shm", "-journal"}) {
    ::unlink((copy + companion).c_str());
  }
  MakeDatabaseFile(copy);
  sqlite3* raw = nullptr;
  int code = sqlite3_open_v2(copy.c_str(), &raw,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                             vfs.empty() ? nullptr : vfs.c_str());
  int system_error = 0;
  std::exception_ptr end;  // what go_on threw
  if (code == SQLITE_OK) {
    sqlite3_backup* backup = sqlite3_backup_init(raw, "main", source.handle(), "main");
    code = backup ? SQLITE_OK : sqlite3_extended_errcode(raw);
    while (code == SQLITE_OK) {
      code = sqlite3_backup_step(backup, go_on ? kCopyPages : -1);
      try {
        if (go_on) go_on();
      } catch (...) {
        end = std::current_exception();
        code = SQLITE_INTERRUPT;
      }
    }
    system_error = sqlite3_system_errno(raw);
    const int finished = sqlite3_backup_finish(backup);
    code = code == SQLITE_DONE ? finished : code;
  }
  const std::string message(Or(raw ? sqlite3_errmsg(raw) : nullptr, sqlite3_errstr(code)));
  sqlite3_close_v2(raw);
  if (code != SQLITE_OK) {
    ::unlink(copy.c_str());
    if (end) std::rethrow_exception(end);
    throw Translate(Classify(code, system_error), code, message, "copy to " + copy);
  }
}

void PutInPlace(const std::string& finished, const std::string& path) {
  SyncPath(finished);
  RenameDurably(finished, path);
}

}  // namespace comanda::db
