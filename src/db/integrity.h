#pragma once

// What SQLite itself finds wrong with a table, sorted by what it means.
//
//   indexes  disagree with their table, which is whole, or have malformed pages of their own: they
//            can be rebuilt from it
//   rows     hold a value that their column does not allow, or stand in the wrong place: they are
//            one record's damage, and everything else can be read and written
//   pages    the file is malformed: what is written into it could destroy more; or the disk cannot
//            read a part of it (is_unread)

#include <set>
#include <string>
#include <vector>

#include "db/tables.h"

namespace comanda::db {

struct Findings {
  std::set<std::string> indexes;
  // Those of `indexes` whose own tree is malformed: a statement that uses them may find anything.
  std::set<std::string> malformed;
  std::vector<std::string> rows;  // a sentence each
  std::string pages;              // a sentence a line; empty where there is nothing
  bool is_unread = false;         // all of `pages` is what the disk could not read

  bool empty() const { return indexes.empty() && rows.empty() && pages.empty(); }
  // Where a read that failed once could explain it, which is no damage.
  bool NeedsConfirming() const { return !malformed.empty() || !rows.empty() || !pages.empty(); }
  void Add(Findings more);
  std::string Text() const;  // all of it, a line each
};

// PRAGMA quick_check(table): pages and values. An index that disagrees is not found. Fault where
// the check cannot be run; a page that SQLite cannot read is a finding.
Findings QuickCheck(Connection& connection, const Table& table);

// PRAGMA integrity_check(table): the same and the indexes. Reads every row of the table once for
// each of its indexes.
Findings IntegrityCheck(Connection& connection, const Table& table);

// The list of free pages.
Findings CheckFreePages(Connection& connection);

// PRAGMA integrity_check of the whole file: a line for each finding, the first 20; empty where
// there is none. A page that SQLite cannot read is a finding. Pages that nothing uses are none: an
// index that was rebuilt leaves some. Fault where the check cannot be run.
std::string IntegrityOfAll(Connection& connection);
// The same with quick_check, which does not compare indexes with their tables.
std::string QuickCheckOfAll(Connection& connection);

}  // namespace comanda::db
