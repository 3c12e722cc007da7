#include "engine/connection.h"

#include <libpq-fe.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "base/text.h"
#include "db/postgresql/states.h"

namespace comanda::db {
namespace {

constexpr size_t kStatementsMax = 512;
// The server ends a statement by itself (statement_timeout); what hangs longer is lost.
constexpr int64_t kBeyondServerMs = 3'000;
constexpr int kBeatEveryMs = 1'000;
// An owner that hangs, or whose machine does, has a connection that is alive to its kernel: the
// server ends the session, and with it the lock. The owner asks every 2 s, and answers nothing
// where it was not answered for 5 s (engine/upkeep.h).
constexpr const char* kEndsIfSilent =
    " -c idle_session_timeout=10000 -c idle_in_transaction_session_timeout=10000";

std::atomic<uint64_t> g_round_trips{0};

constexpr std::string_view kDefaultPort = "5432";
constexpr Oid kBoolean = 16;  // pg_type.dat of the server

std::string_view Or(const char* text, std::string_view other) {
  return text ? std::string_view(text) : other;
}

// A message of libpq without its prefix, details and line ends.
std::string FirstLine(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  constexpr std::string_view kPrefix = "ERROR:  ";
  if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
  return std::string(text);
}

// Of the process, which systemd makes: root's, with an access list that names the user of the
// service. The bits of the group are then the mask of that list.
bool IsCredential(const std::string& path) {
  const char* const directory = std::getenv("CREDENTIALS_DIRECTORY");
  return directory && path.starts_with(std::string(directory) + "/");
}

// Its first line. A file that others may read is no secret.
std::string ReadPassword(const std::string& path) {
  if (path.empty()) return "";
  struct stat found = {};
  const mode_t others = IsCredential(path) ? 007 : 077;
  if (::stat(path.c_str(), &found) == 0 && (found.st_mode & others) != 0) {
    throw Fault(Fault::Kind::kInternal,
                path +
                    " holds the password of the database and may be read by others: `chmod 600 " +
                    path + "`");
  }
  const std::optional<std::string> text = ReadFile(path);
  if (!text) {
    throw Fault(Fault::Kind::kInternal, "there is no " + path + " with the database's password");
  }
  return text->substr(0, text->find_first_of("\r\n"));
}

// What each host said, in one line.
std::string InOneLine(std::string_view text) {
  std::string line;
  for (const char c : text) line += c == '\n' || c == '\t' ? ' ' : c;
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

// The highest n of its $n.
size_t ParametersOf(std::string_view sql) {
  int highest = 0;
  for (size_t at = sql.find('$'); at != sql.npos; at = sql.find('$', at + 1)) {
    int n = 0;
    std::from_chars(sql.data() + at + 1, sql.data() + sql.size(), n);
    highest = std::max(highest, n);
  }
  return static_cast<size_t>(highest);
}

int64_t StatementMaxMs(Connection::Role role) {
  switch (role) {
    case Connection::Role::kWriter:
      return Connection::kWriteMaxMs;
    case Connection::Role::kReader:
      return Connection::kQueryMaxMs;
    case Connection::Role::kService:
      return Connection::kCheckMaxMs;
  }
  return Connection::kQueryMaxMs;
}

Fault::Kind KindOf(std::string_view state) {
  const State found = StateOf(state);
  if (found.trouble == Trouble::kFull) return Fault::Kind::kDiskFull;
  switch (found.next) {
    case Next::kAgain:
    case Next::kRefuse:
    case Next::kReconnect:
    case Next::kEnd:
      return Fault::Kind::kUnavailable;
    case Next::kNothing:
    case Next::kStatement:
    case Next::kDamage:
      break;
  }
  return found.trouble == Trouble::kPassing ? Fault::Kind::kUnavailable : Fault::Kind::kInternal;
}

}  // namespace

void ResultEnd::operator()(pg_result* result) const noexcept { PQclear(result); }

bool Statement::IsNull(int column) const { return PQgetisnull(result.get(), row, column) != 0; }

// A sum is a numeric, and the truth of a comparison a boolean: SQLite has whole numbers for both.
int64_t Statement::Int(int column) const {
  const std::string_view text(PQgetvalue(result.get(), row, column));
  if (PQftype(result.get(), column) == kBoolean && !text.empty()) return text == "t" ? 1 : 0;
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (IsNull(column) || read.ec != std::errc() || read.ptr != end) ThrowNot("number", sql, column);
  return number;
}

std::string_view Statement::View(int column) const {
  return {PQgetvalue(result.get(), row, column),
          static_cast<size_t>(PQgetlength(result.get(), row, column))};
}

// The bound values of a statement, as libpq takes them.
class Connection::Values {
 public:
  explicit Values(const Statement& statement) : count_(statement.texts.size()) {
    CHECK(count_ <= kMax, "a statement has at most 600 parameters");
    for (size_t i = 0; i < count_; ++i) {
      values_[i] = statement.nulls[i] ? nullptr : statement.texts[i].c_str();
    }
  }
  const char* const* data() const { return values_.data(); }
  int count() const { return static_cast<int>(count_); }

 private:
  static constexpr size_t kMax = 640;
  std::array<const char*, kMax> values_;
  const size_t count_;
};

Connection::Connection(const Settings& settings, Role role, const Clock& clock, Sharing)
    : clock_(clock),
      database_(settings.FileName()),
      server_of_writer_(role == Role::kReader ? settings.server_of_writer : nullptr),
      wait_max_ms_(StatementMaxMs(role) + kBeyondServerMs) {
  Open(settings, role);
  try {
    RequireUsable();
  } catch (...) {
    Close();
    throw;
  }
}

Connection::~Connection() { Close(); }

void Connection::Open(const Settings& settings, Role role) {
  const std::string password = ReadPassword(settings.password_file);
  const std::string options =
      "-c search_path=" + settings.SchemaName() +
      " -c statement_timeout=" + std::to_string(StatementMaxMs(role)) +
      (role == Role::kWriter ? kEndsIfSilent : "") +
      " -c tcp_keepalives_idle=5 -c tcp_keepalives_interval=1 -c tcp_keepalives_count=3"
      " -c client_min_messages=warning -c standard_conforming_strings=on"
      // Compiling a plan takes longer than running it; all rows of a cursor are read.
      " -c jit=off -c cursor_tuple_fraction=1" +
      (role == Role::kWriter ? "" : " -c default_transaction_read_only=on");
  // The first is expanded into the words of the setting; those that follow go before them.
  std::vector<std::pair<const char*, const char*>> words = {
      {"dbname", settings.database.c_str()},
      {"client_encoding", "UTF8"},
      // Readers have read-only transactions, of the server that takes writes.
      {"target_session_attrs", role == Role::kWriter ? "read-write" : "primary"},
      {"connect_timeout", "3"},
      {"keepalives", "1"},
      {"keepalives_idle", "5"},
      {"keepalives_interval", "1"},
      {"keepalives_count", "3"},
      {"application_name", "comanda-head"},
      {"options", options.c_str()},
  };
  // The same server that the writer has, whichever others say that they take writes.
  const std::string server = server_of_writer_ ? server_of_writer_() : "";
  const size_t colon = std::min(server.rfind(':'), server.size());
  const std::string server_host = server.substr(0, colon);
  const std::string server_port = server.substr(std::min(colon + 1, server.size()));
  if (!server_port.empty()) {
    words.emplace_back("host", server_host.c_str());
    words.emplace_back("port", server_port.c_str());
  }
  if (!password.empty()) words.emplace_back("password", password.c_str());
  std::vector<const char*> names, values;
  for (const auto& [name, value] : words) {
    names.push_back(name);
    values.push_back(value);
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  handle_ = PQconnectdbParams(names.data(), values.data(), 1);
  if (!handle_) throw std::bad_alloc();
  if (PQstatus(handle_) == CONNECTION_OK) {
    PQsetNoticeReceiver(handle_, &Connection::OnNotice, this);
    PQsetnonblocking(handle_, 1);
    host_ = std::string(Or(PQhost(handle_), "")) + ":" + std::string(Or(PQport(handle_), ""));
    CHECK(PQenterPipelineMode(handle_) == 1, "a fresh connection waits for nothing");
    return;
  }
  const std::string why = InOneLine(PQerrorMessage(handle_));
  Close();
  throw Fault(Fault::Kind::kUnavailable, "cannot connect to the database: " + why);
}

// A pooler that gives each transaction another session would lose prepared statements, the settings
// above and the lock of the owner.
void Connection::RequireUsable() {
  const std::string schema = Text("SELECT current_setting('search_path')");
  const std::string timeout = Text("SELECT current_setting('tcp_keepalives_count')");
  if (PQbackendPID(handle_) != Integer("SELECT pg_backend_pid()") || schema.empty() ||
      (timeout != "3" && timeout != "0")) {
    throw Fault(Fault::Kind::kInternal,
                "there is a pooler between this program and the database, which takes its settings "
                "away: `database` must name the server itself");
  }
}

void Connection::OnNotice(void* self, const pg_result* notice) noexcept {
  const std::string_view severity =
      Or(PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED), "");
  if (severity == "WARNING") static_cast<Connection*>(self)->has_warned_ = true;
}

bool Connection::TakeWarning() { return std::exchange(has_warned_, false); }

// Statements

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
  const auto found = cache_.find(sql);
  if (found == cache_.end()) return Begin(Fresh(sql));
  if (!found->second->running) return Begin(*found->second);
  // The same text twice at once: the server has one, and each has its own answer.
  if (found->second->prepared == Statement::Prepared::kNo) Settle();
  auto second = std::make_unique<Statement>();
  second->sql = sql;
  second->name = found->second->name;
  second->parameters = found->second->parameters;
  second->prepared = Statement::Prepared::kYes;
  extra_.push_back(std::move(second));
  return Begin(*extra_.back());
}

Statement& Connection::TakeLarge(Sql literal) {
  RequireNoLostTransaction();
  auto statement = std::make_unique<Statement>();
  statement->sql = literal.text();
  statement->parameters = ParametersOf(statement->sql);
  statement->cursor = "c" + std::to_string(++named_);
  extra_.push_back(std::move(statement));
  return Begin(*extra_.back());
}

Statement& Connection::Fresh(std::string_view sql) {
  if (cache_.size() >= kStatementsMax) EvictOne();
  auto statement = std::make_unique<Statement>();
  statement->sql = sql;
  statement->name = "s" + std::to_string(++named_);
  statement->parameters = ParametersOf(sql);
  statement->cached = true;
  Statement& made = *statement;
  cache_.emplace(made.sql, std::move(statement));
  return made;
}

void Connection::EvictOne() {
  auto oldest = cache_.end();
  for (auto one = cache_.begin(); one != cache_.end(); ++one) {
    if (one->second->running || one->second->prepared == Statement::Prepared::kSent) continue;
    if (oldest == cache_.end() || one->second->last_use < oldest->second->last_use) oldest = one;
  }
  if (oldest == cache_.end()) return;  // all are running: a few more do no harm
  if (oldest->second->prepared == Statement::Prepared::kYes) {
    SendText("DEALLOCATE " + oldest->second->name);
  }
  std::erase_if(by_literal_, [&](const auto& one) { return one.second == oldest->second.get(); });
  cache_.erase(oldest);
}

void Connection::RequireNoLostTransaction() const {
  if (is_lost()) throw failure();
  if (transaction_required_ && !in_transaction_) {
    throw Fault(Fault::Kind::kUnavailable, "the transaction of the job is lost");
  }
}

Statement& Connection::Begin(Statement& statement) {
  statement.last_use = ++uses_;
  statement.running = true;
  statement.ended = false;
  statement.row = -1;
  ++running_;
  return statement;
}

void Connection::Give(Statement& statement) {
  for (Due& due : due_) {  // nobody wants its rows any more
    if (due.kind == Due::Kind::kRun && due.statement == &statement) due.statement = nullptr;
  }
  statement.result.reset();
  statement.running = false;
  --running_;
  if (statement.cached) return;
  if (statement.is_open) CloseCursor(statement);
  std::erase_if(extra_, [&](const auto& one) { return one.get() == &statement; });
}

// The server keeps what a cursor needs until the end of the transaction, which may open hundreds.
void Connection::CloseCursor(Statement& statement) noexcept {
  if (!InTransaction() || trouble_ != Trouble::kNone) return;
  try {
    SendText("CLOSE " + statement.cursor);
  } catch (const std::exception&) {  // the connection is lost, and the cursor with it
  }
}

void Connection::Bind(Statement& statement, const Bound* values, size_t count, Copies) {
  if (statement.parameters != count) {
    throw Fault(Fault::Kind::kInternal, "SQL with " + std::to_string(statement.parameters) +
                                            " parameters got " + std::to_string(count) +
                                            " values: " + statement.sql);
  }
  statement.texts.resize(count);
  statement.nulls.assign(count, false);
  for (size_t i = 0; i < count; ++i) {
    switch (values[i].kind()) {
      case Bound::Kind::kNull:
        statement.nulls[i] = true;
        break;
      case Bound::Kind::kInteger:
        statement.texts[i] = std::to_string(values[i].integer());
        break;
      case Bound::Kind::kText:
        statement.texts[i] = values[i].text();
        break;
    }
  }
}

bool Connection::Step(Statement& statement) {
  if (statement.ended) return false;
  if (!statement.result) {
    Send(statement, true);
    Settle();
  }
  ++statement.row;
  const bool is_whole = statement.cursor.empty() || statement.row < kRowsOfPiece;
  if (!is_whole) {
    SendNextPiece(statement);
    Settle();
    statement.row = 0;
  }
  if (statement.row < PQntuples(statement.result.get())) return true;
  statement.ended = true;
  return false;
}

void Connection::Finish(Statement& statement) {
  // Neither side keeps more than that for the other.
  constexpr size_t kDueMax = 256;
  if (due_.size() >= kDueMax) Settle();
  Send(statement, false);
  statement.ended = true;
}

int64_t Connection::FinishCounted(Statement& statement) {
  Send(statement, true);
  Settle();
  statement.ended = true;
  const std::string_view count = PQcmdTuples(statement.result.get());
  int64_t changed = 0;
  std::from_chars(count.data(), count.data() + count.size(), changed);
  return changed;
}

void Connection::Execute(std::string_view sql) {
  SendText(sql);
  Settle();
}

int64_t Connection::Integer(std::string_view sql) {
  const std::string text = Text(sql);
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string Connection::Text(std::string_view sql) {
  Statement& statement = Take(sql);
  std::string text;
  try {
    Bind(statement, nullptr, 0, Copies::kCopied);
    if (Step(statement)) text = statement.View(0);
  } catch (...) {
    Give(statement);
    throw;
  }
  Give(statement);
  return text;
}

void Connection::RunScript(std::string_view statement, const std::function<void()>& beat) {
  const int64_t wait_max_ms = std::exchange(wait_max_ms_, INT64_MAX / 2);
  beat_ = beat;
  try {
    Execute(statement);
  } catch (...) {
    beat_ = {};
    wait_max_ms_ = wait_max_ms;
    throw;
  }
  beat_ = {};
  wait_max_ms_ = wait_max_ms;
}

// The library cannot copy in pipeline mode. Nothing else is under way meanwhile.
int64_t Connection::CopyIn(std::string_view sql, const std::function<std::string_view()>& next) {
  Settle();
  CHECK(PQexitPipelineMode(handle_) == 1, "all that was sent is answered");
  const int64_t wait_max_ms = std::exchange(wait_max_ms_, INT64_MAX / 2);
  Result answer;
  try {
    if (PQsendQuery(handle_, std::string(sql).c_str()) != 1) Lose(PQerrorMessage(handle_));
    Flush();
    answer = NextResult(sql);
    if (PQresultStatus(answer.get()) == PGRES_COPY_IN) {
      for (std::string_view piece = next(); !piece.empty(); piece = next()) {
        // The library keeps what the server does not take yet: no more than one piece.
        if (PQputCopyData(handle_, piece.data(), static_cast<int>(piece.size())) != 1) {
          Lose(PQerrorMessage(handle_));
        }
        Flush();
      }
      if (PQputCopyEnd(handle_, nullptr) != 1) Lose(PQerrorMessage(handle_));
      Flush();
      answer = NextResult(sql);
    }
    has_failed_ = false;
    if (PQresultStatus(answer.get()) != PGRES_COMMAND_OK) NoteError(answer.get(), sql);
    while (NextResult(sql)) continue;
  } catch (...) {
    Close();
    throw;
  }
  wait_max_ms_ = wait_max_ms;
  CHECK(PQenterPipelineMode(handle_) == 1, "the copy has ended");
  if (has_failed_) throw failure();
  const std::string_view count = PQcmdTuples(answer.get());
  int64_t rows = 0;
  std::from_chars(count.data(), count.data() + count.size(), rows);
  return rows;
}

// Transactions

void Connection::BeginReading() {
  ClearTrouble();
  SendText("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  in_transaction_ = true;
}

void Connection::BeginWriting() {
  ClearTrouble();
  SendText("BEGIN");
  in_transaction_ = true;
}

bool Connection::Commit() {
  last_tag_.clear();
  SendText("COMMIT");
  Settle();
  in_transaction_ = false;
  return last_tag_ == "COMMIT";
}

bool Connection::Rollback() noexcept {
  transaction_required_ = false;
  if (!in_transaction_) return !is_lost();
  try {
    Abandon();
    if (is_lost()) return false;
    SendText("ROLLBACK");
    Sync();
    Flush();  // without waiting: the server lets go of the rows now
  } catch (const std::exception&) {
    Close();
  }
  in_transaction_ = false;
  return !is_lost();
}

void Connection::Abandon() noexcept {
  try {
    if (!due_.empty()) Collect();
  } catch (const std::exception&) {  // noted in trouble_; lost where it is the connection's
  }
}

void Connection::Settle() {
  if (is_lost()) throw failure();
  if (due_.empty()) return;
  Collect();
}

// The wire

void Connection::Send(Statement& statement, bool wants_rows) {
  if (is_lost()) throw failure();
  if (!statement.cursor.empty()) {
    SendDeclaration(statement);
    SendNextPiece(statement);
    return;
  }
  if (statement.prepared == Statement::Prepared::kNo) {
    if (PQsendPrepare(handle_, statement.name.c_str(), statement.sql.c_str(), 0, nullptr) != 1) {
      Lose(PQerrorMessage(handle_));
    }
    statement.prepared = Statement::Prepared::kSent;
    due_.push_back({.kind = Due::Kind::kPrepare, .statement = &statement, .sql = statement.sql});
  }
  const Values values(statement);
  if (PQsendQueryPrepared(handle_, statement.name.c_str(), values.count(), values.data(), nullptr,
                          nullptr, 0) != 1) {
    Lose(PQerrorMessage(handle_));
  }
  due_.push_back({.kind = Due::Kind::kRun,
                  .statement = wants_rows ? &statement : nullptr,
                  .sql = statement.sql});
}

// The statement with its values is planned for them, and not kept.
void Connection::SendDeclaration(Statement& statement) {
  const std::string text = "DECLARE " + statement.cursor + " NO SCROLL CURSOR FOR " + statement.sql;
  const Values values(statement);
  if (PQsendQueryParams(handle_, text.c_str(), values.count(), nullptr, values.data(), nullptr,
                        nullptr, 0) != 1) {
    Lose(PQerrorMessage(handle_));
  }
  statement.is_open = true;
  due_.push_back({.kind = Due::Kind::kRun, .statement = nullptr, .sql = statement.sql});
}

void Connection::SendNextPiece(Statement& statement) {
  const std::string fetch = "FETCH " + std::to_string(kRowsOfPiece) + " FROM " + statement.cursor;
  SendText(fetch);
  due_.back().statement = &statement;
}

void Connection::SendText(std::string_view sql) {
  if (is_lost()) throw failure();
  const std::string text(sql);
  if (PQsendQueryParams(handle_, text.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0) != 1) {
    Lose(PQerrorMessage(handle_));
  }
  due_.push_back({.kind = Due::Kind::kRun, .statement = nullptr, .sql = text});
}

void Connection::Sync() {
  if (PQpipelineSync(handle_) != 1) Lose(PQerrorMessage(handle_));
  due_.push_back({.kind = Due::Kind::kSync, .statement = nullptr, .sql = {}});
}

void Connection::Flush() {
  while (true) {
    const int left = PQflush(handle_);
    if (left == 0) return;
    if (left < 0) Lose(PQerrorMessage(handle_));
    Await(POLLIN | POLLOUT);
  }
}

// Reads all that is due. Throws the first failure among it.
void Connection::Collect() {
  if (due_.back().kind != Due::Kind::kSync) Sync();
  const int64_t asked_ms = clock_.MonotonicMs();
  has_failed_ = false;
  Flush();
  while (!due_.empty()) {
    const Due due = std::move(due_.front());
    due_.pop_front();
    Result result = NextResult(due.sql);
    if (due.kind == Due::Kind::kSync) continue;
    NoteAnswer(due, std::move(result));
    while (NextResult(due.sql)) continue;  // until the end of this command's answers
  }
  // The last words of a server that ends the session are an answer too.
  if (lease_ && !has_failed_) lease_->Prolong(asked_ms, clock_.MonotonicMs());
  ++g_round_trips;
  if (has_failed_) throw failure();
}

Result Connection::NextResult(std::string_view doing) {
  answer_bytes_ = 0;
  while (PQisBusy(handle_) != 0) {
    Await(POLLIN);
    Receive(doing);
  }
  return Result(PQgetResult(handle_));
}

// libpq says nothing of an answer that is not whole yet, so that its bytes are counted at the
// socket. The server may go on sending between the two looks; libpq takes kReadBytes or more, where
// there are as many.
void Connection::Receive(std::string_view doing) {
  constexpr int kReadBytes = 8 * 1024;
  int before = 0;
  int after = 0;
  ::ioctl(PQsocket(handle_), FIONREAD, &before);
  if (PQconsumeInput(handle_) != 1) Lose(PQerrorMessage(handle_));
  ::ioctl(PQsocket(handle_), FIONREAD, &after);
  answer_bytes_ += static_cast<size_t>(std::max(before - after, std::min(before, kReadBytes)));
  if (answer_bytes_ <= kAnswerBytesMax) return;
  const std::string cause = "the rows of a statement are more than " +
                            std::to_string(kAnswerBytesMax / (1024 * 1024)) +
                            " MiB: " + std::string(doing);
  Close();
  trouble_ = Trouble::kIo;
  state_.clear();
  trouble_cause_ = cause;
  throw Fault(Fault::Kind::kInternal, cause);
}

void Connection::Await(short events) {
  const int64_t until_ms = clock_.MonotonicMs() + wait_max_ms_;
  while (true) {
    const int64_t left_ms = until_ms - clock_.MonotonicMs();
    if (left_ms <= 0) Lose("the server has not answered in time");
    pollfd server = {.fd = PQsocket(handle_), .events = events, .revents = 0};
    const int64_t wait_ms = beat_ ? std::min<int64_t>(left_ms, kBeatEveryMs) : left_ms;
    const int found = ::poll(&server, 1, static_cast<int>(std::min<int64_t>(wait_ms, 60'000)));
    if (found > 0) {
      if ((events & POLLOUT) != 0 && (server.revents & POLLIN) != 0 &&
          PQconsumeInput(handle_) != 1) {
        Lose(PQerrorMessage(handle_));
      }
      return;
    }
    if (found < 0 && errno != EINTR) Lose(std::strerror(errno));
    if (beat_) beat_();
  }
}

void Connection::NoteAnswer(const Due& due, Result result) {
  const ExecStatusType status = PQresultStatus(result.get());
  const bool is_sound = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
  if (due.kind == Due::Kind::kPrepare) {
    due.statement->prepared = is_sound ? Statement::Prepared::kYes : Statement::Prepared::kNo;
  }
  if (is_sound) {
    if (due.kind != Due::Kind::kRun) return;
    if (due.statement) {
      due.statement->result = std::move(result);
    } else {
      last_tag_ = PQcmdStatus(result.get());
    }
    return;
  }
  if (status == PGRES_PIPELINE_ABORTED) return;  // behind one that has failed
  NoteError(result.get(), due.sql);
}

void Connection::NoteError(const pg_result* result, std::string_view doing) {
  if (!result || PQstatus(handle_) == CONNECTION_BAD) Lose(PQerrorMessage(handle_));
  const std::string_view state = Or(PQresultErrorField(result, PG_DIAG_SQLSTATE), "");
  NoteFailure(state, Or(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY), "no message"), doing);
}

void Connection::NoteFailure(std::string_view state, std::string_view message,
                             std::string_view doing) {
  const State found = StateOf(state);
  const bool is_worst = found.trouble > trouble_ || trouble_ == Trouble::kNone;
  trouble_ = std::max(found.trouble, trouble_);
  if (found.next == Next::kDamage || state.starts_with("23")) met_damage_ = true;
  if (!has_failed_ && is_worst) {
    state_ = state;
    trouble_cause_ =
        "postgresql " + std::string(state) + " (" + FirstLine(message) + "): " + std::string(doing);
  }
  has_failed_ = true;
}

void Connection::Lose(std::string_view why) {
  const std::string cause = "the connection to the database " + (host_.empty() ? "" : host_ + " ") +
                            "is lost: " + InOneLine(why);
  Close();
  trouble_ = Trouble::kIo;
  state_.clear();
  trouble_cause_ = cause;
  throw failure();
}

Fault Connection::failure() const {
  if (trouble_ == Trouble::kNone) {
    return Fault(is_lost() ? Fault::Kind::kUnavailable : Fault::Kind::kInternal,
                 is_lost() ? "the connection to the database is closed"
                           : "a job ended the transaction that is not its own");
  }
  return Fault(state_.empty() ? Fault::Kind::kUnavailable : KindOf(state_), trouble_cause_);
}

bool Connection::MustRunAgain() const {
  if (trouble_ == Trouble::kNone) return false;
  const Next next = StateOf(state_).next;
  return next == Next::kAgain || next == Next::kReconnect;
}

std::vector<std::string> Connection::HostsOf(const std::string& database) {
  std::string hosts, ports;
  PQconninfoOption* const options = PQconninfoParse(database.c_str(), nullptr);
  for (PQconninfoOption* one = options; one && one->keyword; ++one) {
    if (!one->val) continue;
    const std::string_view word(one->keyword);
    if (word == "host" || (word == "hostaddr" && hosts.empty())) hosts = one->val;
    if (word == "port") ports = one->val;
  }
  PQconninfoFree(options);
  std::vector<std::string> all;
  std::string_view rest_hosts(hosts), rest_ports(ports);
  while (!rest_hosts.empty()) {
    const std::string_view host = rest_hosts.substr(0, rest_hosts.find(','));
    rest_hosts.remove_prefix(std::min(host.size() + 1, rest_hosts.size()));
    // One port is that of all of them.
    const std::string_view port = rest_ports.substr(0, rest_ports.find(','));
    if (port.size() < rest_ports.size()) rest_ports.remove_prefix(port.size() + 1);
    all.push_back(std::string(host) + ":" + std::string(port.empty() ? kDefaultPort : port));
  }
  return all;
}

std::string Connection::PasswordVerifier(const std::string& user, const std::string& password) {
  char* const made =
      PQencryptPasswordConn(handle_, password.c_str(), user.c_str(), "scram-sha-256");
  if (!made) throw Fault(Fault::Kind::kInternal, "libpq cannot make a verifier of the password");
  std::string verifier = made;
  PQfreemem(made);
  return verifier;
}

uint64_t Connection::RoundTrips() { return g_round_trips; }

bool Connection::IsUsable() {
  if (is_lost()) return false;
  if (server_of_writer_ && server_of_writer_() != host_) {
    Close();
    return false;
  }
  pollfd server = {.fd = PQsocket(handle_), .events = POLLIN, .revents = 0};
  if (::poll(&server, 1, 0) <= 0) return true;
  if (PQconsumeInput(handle_) == 1 && PQstatus(handle_) == CONNECTION_OK) return true;
  Close();
  return false;
}

void Connection::Close() noexcept {
  PQfinish(std::exchange(handle_, nullptr));
  due_.clear();
  in_transaction_ = false;
}

}  // namespace comanda::db
