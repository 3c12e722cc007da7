#pragma once

// What stores run their SQL on. A Snapshot reads one consistent state; a Tx also writes, inside the
// writer's transaction. Functions that only read take a Session&, those that write take a Tx&.
//
// SQL is a literal (db/sql.h) with parameters $1..$n, bound in the order of the arguments; it is
// prepared once per connection and cached by its text. Query() and One() copy texts into the
// statement, so that temporaries may be bound; Run() does not, because its statement has ended when
// it returns.
//
//   auto row = session.One("SELECT name FROM client WHERE company_id = $1 AND id = $2", company,
//   id); if (!row) return std::nullopt; return row->Text(0);

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "db/change_counters.h"
#include "db/clause_builder.h"
#include "db/company_id.h"
#include "db/connection.h"
#include "db/sql.h"

namespace comanda::db {

// A running query. Next() steps to the next row; columns count from 0. Texts are views into the
// current row. The statement goes back to the cache when this object goes, which must be before the
// transaction ends: a Rows is a local of the job or of the function given to Read().
class Rows {
 public:
  Rows(Rows&& other) noexcept;
  Rows& operator=(Rows&&) = delete;
  ~Rows();

  // False behind the last row, also when asked again. Fault where SQLite fails; kUnavailable where
  // a reader's query ran longer than 5 s.
  bool Next();
  bool IsNull(int column) const;
  // The readers of a value throw Fault kDamaged where the file holds one of another type; View()
  // and Text() read null as an empty text.
  int64_t Int(int column) const;
  bool Bool(int column) const;              // 0 or 1
  std::string_view View(int column) const;  // until the next step
  std::string Text(int column) const { return std::string(View(column)); }
  std::optional<std::string> OptionalText(int column) const;
  std::optional<int64_t> OptionalInt(int column) const;

 private:
  friend class Session;
  Rows(Connection& connection, Statement& statement)
      : connection_(&connection), statement_(&statement) {}
  Connection* connection_;  // null once moved from
  Statement* statement_;
};

class Session {
 public:
  explicit Session(Connection& connection) : connection_(connection) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  template <typename... Values>
  Rows Query(Sql sql, const Values&... values) {
    const Bound bound[] = {Bound(values)..., Bound(nullptr)};
    return Start(sql.text(), bound, sizeof...(Values), Texts::kCopied);
  }
  Rows QueryBound(const ClauseBuilder& sql);

  // The first row, already stepped to, or nothing.
  template <typename... Values>
  std::optional<Rows> One(Sql sql, const Values&... values) {
    Rows rows = Query(sql, values...);
    if (!rows.Next()) return std::nullopt;
    return rows;
  }

 protected:
  enum class Texts : uint8_t { kCopied, kOutliveTheStatement };
  // `sql` is the text of an Sql or of a ClauseBuilder.
  Rows Start(std::string_view sql, const Bound* values, size_t count, Texts texts);
  Connection& connection_;
};

// A consistent read-only view, given back as soon as the answer is made (db/database.h).
class Snapshot : public Session {
 public:
  using Session::Session;
};

// The writer's transaction of one job. Only on the writer thread.
class Tx : public Session {
 public:
  Tx(Connection& connection, ChangeCounters& counters) : Session(connection), counters_(counters) {}

  // The database's counters in memory; published to from OnCommit only.
  ChangeCounters& counters() { return counters_; }

  // Runs an INSERT, UPDATE or DELETE to its end; the number of rows it changed.
  template <typename... Values>
  int64_t Run(Sql sql, const Values&... values) {
    const Bound bound[] = {Bound(values)..., Bound(nullptr)};
    Rows rows = Start(sql.text(), bound, sizeof...(Values), Texts::kOutliveTheStatement);
    while (rows.Next()) continue;
    return Changes();
  }

  // Runs after the group's commit is on disk, on the writer thread, before the job's caller is
  // released: to publish what is kept in memory (change counters, the key table). Must not throw.
  // Dropped when the job refuses or the commit fails.
  void OnCommit(std::function<void()> publish) { on_commit_.push_back(std::move(publish)); }
  // For the writer, once the job has returned.
  std::vector<std::function<void()>> TakePublications() { return std::move(on_commit_); }

 private:
  int64_t Changes() const;
  ChangeCounters& counters_;
  std::vector<std::function<void()>> on_commit_;
};

// What the writer gives each job: the time of the commit (never before an earlier job's; a step
// back of the clock of up to 5 minutes continues from the last stamp, contract section 1).
struct Stamp {
  UtcMs now = 0;
};

}  // namespace comanda::db
