#pragma once

// What stores run their SQL on. A Snapshot reads one consistent state; a Tx also writes, inside the
// writer's transaction. Functions that only read take a Session&, those that write take a Tx&.
//
// SQL is a literal (db/sql.h) with parameters $1..$n, bound in the order of the arguments; it is
// prepared once per connection and cached. Query() and One() copy texts into the statement, so that
// temporaries may be bound; Run() does not, because its statement has ended when it returns.
//
// Rows are read by the names of their columns, which the compiler finds in the statement's text
// (db/columns.h). Therefore the statement is a constexpr template argument:
//
//   static constexpr db::Sql kStation = R"sql(
//       SELECT id, name FROM station WHERE company_id = $1 AND id = $2
//       )sql";
//   const auto row = session.One<kStation>(company, id);
//   if (!row) return std::nullopt;
//   return Station{.id = row->Text("id"), .name = row->Text("name")};
//
// A function that reads the rows of several statements takes `const auto& row`. A statement with
// one column needs no names: FindInt(), FindText(), GetInt(), FindTexts(), Exists().

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time/clock.h"
#include "db/change_counters.h"
#include "db/clause_builder.h"
#include "db/columns.h"
#include "db/company_id.h"
#include "db/sql.h"

namespace comanda::db {

// Of the engine (db/README.md).
class Connection;
struct Statement;

// A running query. Next() steps to the next row. Texts are views into the current row. The
// statement goes back to the cache when this object goes, which must be before the transaction
// ends: it is a local of the job or of the function given to Read().
class Rows {
 public:
  Rows(Rows&& other) noexcept;
  Rows& operator=(Rows&&) = delete;
  ~Rows();

  // False behind the last row, also when asked again. Fault where the engine fails; kUnavailable
  // where a reader's query ran longer than 5 s.
  bool Next();

 protected:
  // Columns count from 0. The readers of a value throw Fault kDamaged where the file holds one of
  // another type; ViewAt() reads null as an empty text.
  bool IsNullAt(int column) const;
  int64_t IntAt(int column) const;
  bool BoolAt(int column) const;
  std::string_view ViewAt(int column) const;
  std::string TextAt(int column) const { return std::string(ViewAt(column)); }
  std::optional<std::string> OptionalTextAt(int column) const;
  std::optional<int64_t> OptionalIntAt(int column) const;

 private:
  friend class Session;
  friend class Tx;
  Rows(Connection& connection, Statement& statement)
      : connection_(&connection), statement_(&statement) {}
  Connection* connection_;  // null once moved from
  Statement* statement_;
};

// The rows of the statement kSql: each value is read by the name of its column. The readers throw
// Fault kDamaged where the file holds a value of another type.
template <const Sql& kSql>
class NamedRows : public Rows {
 public:
  // Made of a name where it is written, at compile time.
  class Column {
   public:
    template <size_t kSize>
    consteval Column(const char (&name)[kSize]) : Column(std::string_view(name, kSize - 1)) {}
    consteval Column(std::string_view name) : number_(columns::Find(kSql.text(), name)) {
      if (number_ < 0) throw "the statement has no column of this name, or several";
    }
    constexpr int number() const { return number_; }

   private:
    int number_;
  };

  bool IsNull(Column column) const { return IsNullAt(column.number()); }
  int64_t Int(Column column) const { return IntAt(column.number()); }
  bool Bool(Column column) const { return BoolAt(column.number()); }  // 0 or 1
  CompanyId Company(Column column) const { return {IntAt(column.number())}; }
  // A null is an empty text. The view holds until the next step.
  std::string_view View(Column column) const { return ViewAt(column.number()); }
  std::string Text(Column column) const { return TextAt(column.number()); }
  std::optional<std::string> OptionalText(Column column) const {
    return OptionalTextAt(column.number());
  }
  std::optional<int64_t> OptionalInt(Column column) const { return OptionalIntAt(column.number()); }

 private:
  friend class Session;
  explicit NamedRows(Rows rows) : Rows(std::move(rows)) {}
};

class Session {
 public:
  explicit Session(Connection& connection) : connection_(connection) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  template <const Sql& kSql, typename... Values>
  NamedRows<kSql> Query(const Values&... values) {
    return NamedRows<kSql>(Start(kSql, values...));
  }
  // `sql` begins with kBase, whose columns are read.
  template <const Sql& kBase>
  NamedRows<kBase> Query(const ClauseBuilder& sql) {
    RequireBase(kBase, sql);
    return NamedRows<kBase>(StartBuilt(sql));
  }

  // The same of a statement whose rows may be more than an answer of a database server may have
  // (Connection::kAnswerBytesMax of that engine), such as a year of orders: it sends them in
  // pieces.
  template <const Sql& kSql, typename... Values>
  NamedRows<kSql> QueryLarge(const Values&... values) {
    const Bound bound[] = {Bound(values)..., Bound(nullptr)};
    return NamedRows<kSql>(StartLarge(kSql, bound, sizeof...(Values)));
  }

  // The first row, already stepped to, or nothing.
  template <const Sql& kSql, typename... Values>
  std::optional<NamedRows<kSql>> One(const Values&... values) {
    NamedRows<kSql> rows = Query<kSql>(values...);
    if (!rows.Next()) return std::nullopt;
    return rows;
  }

  // Of statements with one column: the value in the first row, or nothing where there is no row.
  // Fault kDamaged where it is of another type; a null is no number, but an empty text.
  template <typename... Values>
  std::optional<int64_t> FindInt(Sql sql, const Values&... values) {
    return FirstInt(Start(sql, values...));
  }
  template <typename... Values>
  std::optional<std::string> FindText(Sql sql, const Values&... values) {
    return FirstText(Start(sql, values...));
  }
  // Of an aggregate, which always has a row: count, coalesce(max(…), 0).
  template <typename... Values>
  int64_t GetInt(Sql sql, const Values&... values) {
    return OnlyInt(Start(sql, values...));
  }
  int64_t GetInt(const ClauseBuilder& sql) { return OnlyInt(StartBuilt(sql)); }
  // The texts of all rows.
  template <typename... Values>
  std::vector<std::string> FindTexts(Sql sql, const Values&... values) {
    return AllTexts(Start(sql, values...));
  }
  std::vector<std::string> FindTexts(const ClauseBuilder& sql) { return AllTexts(StartBuilt(sql)); }
  // Whether there is any row.
  template <typename... Values>
  bool Exists(Sql sql, const Values&... values) {
    return Start(sql, values...).Next();
  }

  // For a caller that has seen what only damage explains: Fault kDamaged with that cause. The file
  // is checked soon (Settings::suspect).
  [[noreturn]] void ThrowDamaged(Sql sql, std::string cause);

 protected:
  template <typename... Values>
  Rows Start(Sql sql, const Values&... values) {
    const Bound bound[] = {Bound(values)..., Bound(nullptr)};
    return StartLiteral(sql, bound, sizeof...(Values));
  }
  Connection& connection_;

 private:
  Rows StartLiteral(Sql sql, const Bound* values, size_t count);
  Rows StartLarge(Sql sql, const Bound* values, size_t count);
  Rows StartBuilt(const ClauseBuilder& sql);
  static void RequireBase(Sql base, const ClauseBuilder& sql);
  static std::optional<int64_t> FirstInt(Rows rows);
  static std::optional<std::string> FirstText(Rows rows);
  static int64_t OnlyInt(Rows rows);
  static std::vector<std::string> AllTexts(Rows rows);
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

  // Runs an INSERT, UPDATE or DELETE. Its failure may be thrown by a later statement of the job, or
  // by the commit: a second engine sends it and does not wait.
  template <typename... Values>
  void Run(Sql sql, const Values&... values) {
    const Bound bound[] = {Bound(values)..., Bound(nullptr)};
    RunLiteral(sql, bound, sizeof...(Values));
  }
  // The same, waited for; the number of rows it changed.
  template <typename... Values>
  int64_t RunCounted(Sql sql, const Values&... values) {
    const Bound bound[] = {Bound(values)..., Bound(nullptr)};
    return CountLiteral(sql, bound, sizeof...(Values));
  }

  // The same of one row that must be there. Where it changes none, or several, an index that leads
  // to it is wrong: Fault kDamaged (ThrowDamaged).
  template <typename... Values>
  void RunOne(Sql sql, const Values&... values) {
    if (RunCounted(sql, values...) != 1) ThrowDamaged(sql, "a row is not where it must be");
  }

  // Runs after the group's commit is on disk, on the writer thread, before the job's caller is
  // released: to publish what is kept in memory (change counters, the key table). Must not throw.
  // Dropped when the job refuses or the commit fails.
  void OnCommit(std::function<void()> publish) { on_commit_.push_back(std::move(publish)); }
  // For the writer, once the job has returned.
  std::vector<std::function<void()>> TakePublications() { return std::move(on_commit_); }

 private:
  void RunLiteral(Sql sql, const Bound* values, size_t count);
  int64_t CountLiteral(Sql sql, const Bound* values, size_t count);
  ChangeCounters& counters_;
  std::vector<std::function<void()>> on_commit_;
};

// What the writer gives each job: the time of the commit (never before an earlier job's; a step
// back of the clock of up to 5 minutes continues from the last stamp, contract section 1).
struct Stamp {
  UtcMs now = 0;
};

}  // namespace comanda::db
