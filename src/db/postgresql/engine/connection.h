#pragma once

// One connection to a PostgreSQL server: statements prepared once and kept by their text, and the
// one place where the server's errors become a Fault. Used by one thread at a time. Only inside db/
// (scripts/check_rooms): the rooms have a Session (db/session.h).
//
// Statements are sent in libpq's pipeline mode, and what changes rows is not waited for: the next
// statement whose rows or count somebody wants, or the end of the transaction, collects all answers
// that are due, in one round trip (Settle). The error of a statement that nobody waited for is
// thrown there, with that statement's text.
//
// Each wait has a deadline of this program, beyond the server's own (statement_timeout): the kernel
// of a server that hangs goes on acknowledging what is sent to it. Where it has passed, the
// connection is closed, without a polite request to cancel.
//
// Parameters are sent as text and the server infers their types; values come as text.

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/problem.h"
#include "base/time/clock.h"
#include "db/settings.h"
#include "db/sql.h"
#include "db/trouble.h"
#include "db/postgresql/lease.h"

struct pg_conn;
struct pg_result;

namespace comanda::db {

// An answer of the server.
struct ResultEnd {
  void operator()(pg_result* result) const noexcept;
};
using Result = std::unique_ptr<pg_result, ResultEnd>;

// A prepared statement of a connection. The connection owns it. It is running (from Take to Give)
// or waiting in its cache.
struct Statement {
  enum class Prepared : uint8_t { kNo, kSent, kYes };

  std::string sql;
  std::string name;  // in the server's session
  size_t parameters = 0;
  Prepared prepared = Prepared::kNo;
  std::vector<std::string> texts;  // of the bound values
  std::vector<bool> nulls;         // which of them are null
  Result result;                   // of the running one, whole
  int row = -1;                    // the current one
  uint64_t last_use = 0;
  bool running = false;
  bool cached = false;  // else a second one of the same text, forgotten after use
  bool ended = false;   // stepped behind the last row
  // Of one whose rows come in pieces: the name of the server's cursor, and whether that is open.
  std::string cursor;
  bool is_open = false;

  // Of the current row. Columns count from 0. Int() and View() throw Fault kDamaged where the value
  // is of another type; View() reads null as an empty text.
  bool IsNull(int column) const;
  int64_t Int(int column) const;
  std::string_view View(int column) const;
};

class Connection {
 public:
  enum class Role : uint8_t {
    kWriter,   // the only one that writes
    kReader,   // read-only, its queries are ended after kQueryMaxMs
    kService,  // read-only, for checks that take long
  };
  static constexpr int64_t kQueryMaxMs = 5'000;
  static constexpr int64_t kWriteMaxMs = 30'000;
  static constexpr int64_t kCheckMaxMs = 600'000;
  // The rows of a statement are read whole. Those of more bytes are no answer but a Fault, and the
  // connection is closed: what may be as large is taken with TakeLarge().
  static constexpr size_t kAnswerBytesMax = 32 * 1024 * 1024;
  static constexpr int kRowsOfPiece = 1'000;

  // Connects to the host that takes writes, in the schema of the settings. Fault kUnavailable with
  // what each host said where there is none.
  Connection(const Settings& settings, Role role, const Clock& clock,
             Sharing sharing = Sharing::kShared);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // A statement that is not running; Give() takes it back. That of a literal is found by the
  // literal's address, without reading its text.
  Statement& Take(Sql literal);
  Statement& Take(std::string_view sql);
  // One whose rows come kRowsOfPiece at a time, in a transaction: no memory holds them all.
  Statement& TakeLarge(Sql literal);
  void Give(Statement& statement);
  // Binds the values of a statement just taken; Fault where they are not as many as its parameters.
  void Bind(Statement& statement, const Bound* values, size_t count, Copies texts);
  // True while there is a row. Fault where the server fails it, or one sent before it.
  bool Step(Statement& statement);
  // Sends a statement that changes rows. The second waits for it, and says how many.
  void Finish(Statement& statement);
  int64_t FinishCounted(Statement& statement);

  // A statement without parameters, sent and waited for. Fault as Step(), also for those below.
  void Execute(std::string_view sql);
  // The first column of its first row; 0 and "" where there is none.
  int64_t Integer(std::string_view sql);
  std::string Text(std::string_view sql);
  // One statement, not prepared, that may take as long as it likes: migrations. `beat` is called
  // every second.
  void RunScript(std::string_view statement, const std::function<void()>& beat = {});

  // Runs COPY … FROM STDIN in the open transaction, which may take as long as it likes: sends what
  // `next` returns until that is empty. Returns how many rows the server has taken. What `next`
  // throws closes the connection. Fault as Step().
  int64_t CopyIn(std::string_view sql, const std::function<std::string_view()>& next);

  // Begins a transaction that only reads, all of one state, and clears the trouble. Sent with the
  // first statement.
  void BeginReading();
  // Begins one that writes; as BeginReading().
  void BeginWriting();
  // Whether the transaction was committed: not where a statement of it has failed, which the server
  // says without an error. Sent with all that was not waited for, in one round trip. Fault where
  // the connection is lost (is_lost()): then the answer is lost too, and the commit may be done.
  bool Commit();
  // Between a beginning and its end, where the connection lives.
  bool InTransaction() const { return in_transaction_ && !is_lost(); }
  // Rolls back the open transaction, if there is one, without waiting; false where the connection
  // is lost.
  bool Rollback() noexcept;
  // While set, a statement outside a transaction is refused: the job's is lost, and what follows
  // would be committed on its own.
  void RequireTransaction(bool required) { transaction_required_ = required; }

  // Waits until every statement that was sent is answered; Fault where one failed.
  void Settle();
  // The same, where nobody wants to know any more what became of them.
  void Abandon() noexcept;

  // The worst failure since the last ClearTrouble().
  Trouble trouble() const { return trouble_; }
  // The same as what is thrown for it.
  Fault failure() const;
  void ClearTrouble() {
    trouble_ = Trouble::kNone;
    state_.clear();
    met_damage_ = false;
  }
  // Whether a statement met what damage may explain, since the last ClearTrouble(): a page that the
  // server cannot read, or a constraint that the program keeps by itself.
  bool met_damage() const { return met_damage_; }
  // The caller has seen in the rows what only damage explains.
  void NoteDamage() { met_damage_ = true; }

  // False where the server has closed the connection meanwhile, or the writer has another server.
  bool IsUsable();

  // Whether the transaction lost against another one, or with its connection, and may succeed if
  // its jobs run again.
  bool MustRunAgain() const;

  // Whether a statement was taken and not given back.
  bool AnyRunning() const { return running_ > 0; }
  // Ends the session, and with it its lock; is_lost() from then on.
  void Close() noexcept;
  // Closed by the server, the network, a deadline or Close().
  bool is_lost() const { return handle_ == nullptr; }
  // SQLSTATE of the worst failure; empty where no server answered.
  const std::string& state() const { return state_; }
  // Whether the server has warned since the last call: behind a COMMIT, that the standby may not
  // have it.
  bool TakeWarning();
  // The host and the port that answered, for people.
  const std::string& host() const { return host_; }
  // From now on each answer prolongs that lease, which outlives the connection.
  void ProlongWithAnswers(Lease& lease) { lease_ = &lease; }
  // The hosts of a setting `database`, in its order, each as host() would have it.
  static std::vector<std::string> HostsOf(const std::string& database);
  // What the server keeps of the password of that user, by which it knows the password again: made
  // here, so that the password itself is in no statement. Only of a live connection.
  std::string PasswordVerifier(const std::string& user, const std::string& password);
  // How often the connections of this process have waited for the server.
  static uint64_t RoundTrips();

 private:
  class Values;
  // What was sent and is not answered yet.
  struct Due {
    enum class Kind : uint8_t { kPrepare, kRun, kSync };
    Kind kind;
    Statement* statement = nullptr;  // whose rows somebody wants, or whose preparation it is
    std::string sql;                 // for the error
  };

  static void OnNotice(void* self, const pg_result* notice) noexcept;
  void Open(const Settings& settings, Role role);
  void RequireUsable();
  void RequireNoLostTransaction() const;
  Statement& Begin(Statement& statement);
  Statement& Fresh(std::string_view sql);
  void EvictOne();
  void CloseCursor(Statement& statement) noexcept;
  void Send(Statement& statement, bool wants_rows);
  void SendDeclaration(Statement& statement);
  void SendNextPiece(Statement& statement);
  void SendText(std::string_view sql);
  void Sync();
  void Flush();
  void Collect();
  Result NextResult(std::string_view doing);
  void Receive(std::string_view doing);
  void Await(short events);
  void NoteAnswer(const Due& due, Result result);
  void NoteError(const pg_result* result, std::string_view doing);
  void NoteFailure(std::string_view state, std::string_view message, std::string_view doing);
  [[noreturn]] void Lose(std::string_view why);

  const Clock& clock_;
  const std::string database_;                           // for messages
  const std::function<std::string()> server_of_writer_;  // of a reader; else empty
  int64_t wait_max_ms_ = 0;
  pg_conn* handle_ = nullptr;
  std::string host_;
  size_t named_ = 0;         // statements and cursors that were given a name
  size_t answer_bytes_ = 0;  // of the answer that is being read
  // Keys are views of the statements' own texts.
  std::unordered_map<std::string_view, std::unique_ptr<Statement>> cache_;
  // Those of cache_ that were taken by a literal; several literals may have one text.
  std::unordered_map<const char*, Statement*> by_literal_;
  std::vector<std::unique_ptr<Statement>> extra_;  // running, with the text of a running cached one
  std::deque<Due> due_;
  std::string last_tag_;  // of the last command that was answered
  std::function<void()> beat_;
  Lease* lease_ = nullptr;
  uint64_t uses_ = 0;
  int running_ = 0;
  bool in_transaction_ = false;
  bool transaction_required_ = false;
  bool has_warned_ = false;
  bool has_failed_ = false;  // one of those that were collected
  Trouble trouble_ = Trouble::kNone;
  std::string trouble_cause_;
  std::string state_;
  bool met_damage_ = false;
};

}  // namespace comanda::db
