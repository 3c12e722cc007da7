#pragma once

// One SQLite connection: opened with every guard the product wants, statements cached by their
// text, and the one place where SQLite's codes become a Fault. Used by one thread at a time. Only
// inside db/ (scripts/check_rooms): the rooms have a Session (db/session.h).

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/time/clock.h"
#include "base/problem.h"
#include "db/settings.h"
#include "db/sql.h"
#include "db/trouble.h"

struct sqlite3;
struct sqlite3_stmt;

namespace comanda::db {

// A prepared statement of a connection. The connection owns it. It is running (from Take to Give)
// or waiting in its cache.
struct Statement {
  std::string sql;
  sqlite3_stmt* handle = nullptr;
  std::vector<int> positions;  // positions[n - 1]: SQLite's index of $n
  uint64_t last_use = 0;
  bool running = false;
  bool cached = false;  // else a second one of the same text, finalized after use
  bool ended = false;   // stepped behind the last row

  // Of the current row. Columns count from 0. Int() and View() throw Fault kDamaged where the value
  // is of another type; View() reads null as an empty text.
  bool IsNull(int column) const;
  int64_t Int(int column) const;
  std::string_view View(int column) const;
};

class Connection {
 public:
  enum class Role : uint8_t {
    kWriter,   // the only one that writes and checkpoints
    kReader,   // read-only, its queries are interrupted after kQueryMaxMs
    kService,  // read-only, for checks and copies that take long
    kFrozen,   // read-only, of a file that nobody writes: makes no file beside it, takes no lock
    kStill,    // the same; its queries are interrupted after kGlanceMaxMs
    kCopy,     // writes into a file that nobody else knows: alone, with no -shm beside it
  };
  static constexpr int64_t kQueryMaxMs = 5000;
  static constexpr int64_t kGlanceMaxMs = 2000;
  static constexpr int kBusyMs = 5000;  // SQLite waits that long for a lock

  // Fault where the file cannot be opened; the writer makes it. `vfs` empty: the system's.
  // Sharing::kAlone only for kReader and kService, and where nobody can write the file.
  Connection(const std::string& path, Role role, const std::string& vfs, const Clock& clock,
             Sharing sharing = Sharing::kShared);
  // Of a database that this process serves.
  Connection(const Settings& settings, Role role, const Clock& clock,
             Sharing sharing = Sharing::kShared)
      : Connection(settings.path, role, settings.vfs, clock, sharing) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // A statement that is not running, prepared or from the cache; Give() resets it and takes it
  // back. That of a literal is found by the literal's address, without reading its text.
  Statement& Take(Sql literal);
  Statement& Take(std::string_view sql);
  // Each row is read when it is asked for, however many there are.
  Statement& TakeLarge(Sql literal) { return Take(literal); }
  void Give(Statement& statement);
  // Binds the values of a statement just taken; Fault where they are not as many as its parameters.
  void Bind(Statement& statement, const Bound* values, size_t count, Copies texts);
  // True while there is a row. Fault where SQLite fails.
  bool Step(Statement& statement);
  // Runs a statement that changes rows to its end; the second says how many.
  void Finish(Statement& statement);
  int64_t FinishCounted(Statement& statement);

  // A statement without parameters, run to its end; `sql` is a literal. Fault where SQLite fails,
  // also for those below.
  void Execute(std::string_view sql);
  // The first column of its first row; 0 and "" where there is none.
  int64_t Integer(std::string_view sql);
  std::string Text(std::string_view sql);
  // Statements separated by semicolons, not cached: migrations.
  void RunScript(std::string_view script);

  // Begins a transaction that only reads, all of one state, and clears the trouble.
  void BeginReading();
  // Between BEGIN and COMMIT or ROLLBACK; SQLite may have rolled back by itself.
  bool InTransaction() const;
  // Rolls back the open transaction, if there is one; false where SQLite cannot.
  bool Rollback() noexcept;
  // While set, a statement outside a transaction is refused: SQLite has rolled the job's back, and
  // what follows would be committed on its own.
  void RequireTransaction(bool required) { transaction_required_ = required; }

  // The worst failure since the last ClearTrouble().
  Trouble trouble() const { return trouble_; }
  // The same as what is thrown for it.
  Fault failure() const;
  void ClearTrouble() {
    trouble_ = Trouble::kNone;
    met_damage_ = false;
  }
  // Whether a statement met what damage may explain, since the last ClearTrouble(): a page that
  // cannot be read or makes no sense, or a constraint that the program keeps by itself.
  bool met_damage() const { return met_damage_; }
  // The caller has seen in the rows what only damage explains.
  void NoteDamage() { met_damage_ = true; }
  // Notes the code and throws it as a Fault.
  [[noreturn]] void Fail(int code, std::string_view doing);

  // What is for an engine whose statements are sent and answered later: waits for the answers, with
  // a Fault where one failed; forgets them; whether the other end is still there; whether the
  // transaction lost against another one's. SQLite answers each at once, and has one writer.
  void Settle() {}
  void Abandon() noexcept {}
  bool IsUsable() const { return true; }
  bool MustRunAgain() const { return false; }

  // Whether a statement was taken and not given back.
  bool AnyRunning() const { return running_ > 0; }
  // For SQLite's interfaces that have no face here.
  sqlite3* handle() const { return handle_; }

 private:
  static int OnProgress(void* self) noexcept;
  void Configure(Role role, Sharing sharing);
  void RequireNoLostTransaction() const;
  Statement& Begin(Statement& statement);
  std::unique_ptr<Statement> Prepare(std::string_view sql);
  void EvictOne();
  void Finalize(Statement& statement);
  void Close() noexcept;

  const std::string path_;
  const Clock& clock_;
  sqlite3* handle_ = nullptr;
  size_t cached_max_;
  // Keys are views of the statements' own texts.
  std::unordered_map<std::string_view, std::unique_ptr<Statement>> cache_;
  // Those of cache_ that were taken by a literal; several literals may have one text.
  std::unordered_map<const char*, Statement*> by_literal_;
  std::vector<std::unique_ptr<Statement>> extra_;  // running, with the text of a running cached one
  uint64_t uses_ = 0;
  int running_ = 0;
  int64_t query_max_ms_ = 0;  // 0: a statement may take as long as it likes
  int64_t deadline_ms_ = 0;   // of the running statement
  bool transaction_required_ = false;
  Trouble trouble_ = Trouble::kNone;
  std::string trouble_cause_;
  bool met_damage_ = false;
};

// Makes the file where it is missing, 0600 and with the directory's owner; SQLite gives its
// companions the same. Fault where it cannot.
void MakeDatabaseFile(const std::string& path);

// A copy of what the connection sees, not yet on disk; an existing `copy` is replaced. With
// `go_on` it is taken in pieces, and `go_on` is called between them; an exception of it ends the
// copying. Nobody may write meanwhile, or the source holds a read transaction. If it fails, no copy
// is left.
void CopyInto(Connection& source, const std::string& copy, const std::string& vfs,
              const std::function<void()>& go_on = {});

// The name of a table or an index, quoted for a statement.
std::string Quoted(std::string_view name);

// Syncs a file or a directory.
void SyncPath(const std::string& path);

// Syncs the finished file and puts it in the place of `path`, in the same directory.
void PutInPlace(const std::string& finished, const std::string& path);

}  // namespace comanda::db
