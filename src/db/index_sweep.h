#pragma once

// Whether the indexes of a table agree with it, found out in pieces of a few milliseconds, each in
// a read transaction of its own: on a large file PRAGMA integrity_check(table) holds one for
// minutes, and the write-ahead log cannot start over meanwhile. The same is found: a row without
// its entry, an entry without its row, entries out of order, and rows of a table WITHOUT ROWID out
// of order. What is true of every row in every state of the database can be looked at in pieces,
// whatever is written between them.

#include <functional>
#include <memory>

#include "db/integrity.h"
#include "db/row_values.h"

namespace comanda::db {

// The primary keys of rows that have no entry in the index, some at most.
std::vector<Row> RowsWithoutEntry(Connection& connection, const Table& table, const Index& index);

class IndexSweep {
 public:
  using Open = std::function<std::unique_ptr<Connection>()>;
  // Called between two pieces; false ends the sweep.
  using Pause = std::function<bool()>;

  // A finding counts when a new connection, which has nothing in its cache, finds it again.
  IndexSweep(Open open, Pause pause) : open_(std::move(open)), pause_(std::move(pause)) {}

  // A page that SQLite cannot read is a finding; the caller looks again.
  Findings Run(const Table& table);

 private:
  void SweepRows(const Table& table, Findings& findings);
  void SweepEntries(const Table& table, const Index& index, Findings& findings);
  bool Confirmed(const std::function<bool(Connection&)>& is_wrong);

  const Open open_;
  const Pause pause_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace comanda::db
