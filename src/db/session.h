#pragma once

// What stores run their SQL on. A Snapshot reads one consistent state; a Tx also writes, inside the
// writer's transaction. Functions that only read take a Session&, those that write take a Tx&.
//
// SQL is a literal with parameters $1..$n, bound in the order of the arguments; it is prepared once
// per connection and cached by its text.
//
//   auto row = session.One("SELECT name FROM client WHERE company_id = $1 AND id = $2", company,
//   id); if (!row) return std::nullopt; return row->Text(0);

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace comanda::db {

class Connection;
class ChangeCounters;
struct Statement;

// The small integer that stands for a company inside one database file.
using CompanyId = int64_t;

// One value to bind: text, a 64-bit integer, or null. It is a view for the length of the call that
// takes it: Query() and One() copy the text into the statement, so that temporaries may be bound;
// Run() does not, because its statement has ended when it returns.
class Bound {
 public:
  Bound(std::nullptr_t) : kind_(Kind::kNull) {}
  Bound(std::nullopt_t) : kind_(Kind::kNull) {}
  Bound(int64_t value) : kind_(Kind::kInteger), integer_(value) {}
  Bound(int value) : kind_(Kind::kInteger), integer_(value) {}
  Bound(bool value) : kind_(Kind::kInteger), integer_(value ? 1 : 0) {}
  Bound(std::string_view value) : kind_(Kind::kText), text_(value) {}
  Bound(const std::string& value) : kind_(Kind::kText), text_(value) {}
  Bound(const char* value) : kind_(Kind::kText), text_(value) {}
  template <typename T>
  Bound(const std::optional<T>& value) : Bound(value ? Bound(*value) : Bound(nullptr)) {}

 private:
  friend class Session;
  enum class Kind : uint8_t { kNull, kInteger, kText };
  Kind kind_;
  int64_t integer_ = 0;
  std::string_view text_;
};

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
  int64_t Int(int column) const;
  bool Bool(int column) const { return Int(column) != 0; }
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
  Rows Query(std::string_view sql, const Values&... values) {
    const Bound bound[] = {Bound(values)..., Bound(nullptr)};
    return Start(sql, bound, sizeof...(Values), Texts::kCopied);
  }
  // For lists put together by clause_builder. Its texts are copied too.
  Rows QueryBound(std::string_view sql, const std::vector<Bound>& values);

  // The first row, already stepped to, or nothing.
  template <typename... Values>
  std::optional<Rows> One(std::string_view sql, const Values&... values) {
    Rows rows = Query(sql, values...);
    if (!rows.Next()) return std::nullopt;
    return rows;
  }

 protected:
  enum class Texts : uint8_t { kCopied, kOutliveTheStatement };
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
  int64_t Run(std::string_view sql, const Values&... values) {
    const Bound bound[] = {Bound(values)..., Bound(nullptr)};
    Rows rows = Start(sql, bound, sizeof...(Values), Texts::kOutliveTheStatement);
    while (rows.Next()) continue;
    return Changes();
  }

  // Runs after the group's commit is on disk, on the writer thread, before the job's caller is
  // released: to publish what is kept in memory (change counters, the key table). Must not throw.
  // Dropped when the job refuses or the commit fails.
  void OnCommit(std::function<void()> publish) { on_commit_.push_back(std::move(publish)); }

 private:
  friend class Writer;
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
