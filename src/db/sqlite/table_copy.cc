#include "db/sqlite/table_copy.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/problem.h"
#include "db/sqlite/sorting_files.h"
#include "db/sqlite/table_rows.h"
#include "engine/connection.h"

namespace comanda::db {
namespace {

// The table of what the planner assumes, which a migration fills. SQLite alone can make it.
constexpr std::string_view kStatistics = "sqlite_stat1";

bool HasStatistics(Connection& connection) {
  return connection.Integer("SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'") > 0;
}

void CopyRows(Connection& source, Connection& copy, const std::string& table) {
  Running rows(source, RowsOf(table));
  const int columns = sqlite3_column_count(rows.handle());
  std::string insert = "INSERT INTO " + Quoted(table) + " VALUES (";
  for (int i = 1; i <= columns; ++i) insert += (i > 1 ? ", $" : "$") + std::to_string(i);
  insert += ")";
  while (rows.Step()) {
    Running row(copy, insert);
    for (int i = 0; i < columns; ++i) {
      const int code =
          sqlite3_bind_value(row.handle(), row.position(i), sqlite3_column_value(rows.handle(), i));
      if (code != SQLITE_OK) copy.Fail(code, "bind");
    }
    row.Step();
  }
}

bool IsSameValue(sqlite3_stmt* one, sqlite3_stmt* other, int column) {
  const int type = sqlite3_column_type(one, column);
  if (type != sqlite3_column_type(other, column)) return false;
  if (type == SQLITE_NULL) return true;
  if (type == SQLITE_INTEGER) {
    return sqlite3_column_int64(one, column) == sqlite3_column_int64(other, column);
  }
  const void* const bytes = sqlite3_column_blob(one, column);
  const void* const other_bytes = sqlite3_column_blob(other, column);
  const int size = sqlite3_column_bytes(one, column);
  return size == sqlite3_column_bytes(other, column) &&
         (size == 0 || std::memcmp(bytes, other_bytes, static_cast<size_t>(size)) == 0);
}

void RequireSameRows(Connection& source, Connection& copy, const std::string& table) {
  Running rows(source, RowsOf(table));
  Running copied(copy, RowsOf(table));
  const int columns = sqlite3_column_count(rows.handle());
  bool is_same = columns == sqlite3_column_count(copied.handle());
  while (is_same) {
    const bool has_row = rows.Step();
    is_same = has_row == copied.Step();
    if (!has_row) break;
    for (int i = 0; is_same && i < columns; ++i) {
      is_same = IsSameValue(rows.handle(), copied.handle(), i);
    }
  }
  if (is_same) return;
  throw Fault(Fault::Kind::kInternal,
              "the rows of " + table + " are others when they are read again: the disk fails");
}

void Fill(Connection& source, Connection& copy, const std::string& path) {
  const SortingFiles files(copy, DirectoryOf(path));
  // A copy that is not whole is deleted: neither a log nor a journal on the disk, nor syncs.
  copy.Execute("PRAGMA journal_mode = MEMORY");
  copy.Execute("PRAGMA synchronous = OFF");
  copy.Execute("PRAGMA foreign_keys = OFF");  // rows come before those that they refer to
  copy.Execute("BEGIN");
  for (const Made& table : MadeBySchema(source, true)) {
    copy.RunScript(table.sql);
    CopyRows(source, copy, table.name);
  }
  for (const Made& one : MadeBySchema(source, false)) copy.RunScript(one.sql);
  if (HasStatistics(source)) {
    copy.RunScript("ANALYZE sqlite_schema; DELETE FROM sqlite_stat1");
    CopyRows(source, copy, std::string(kStatistics));
  }
  for (const std::string pragma : {"PRAGMA user_version", "PRAGMA application_id"}) {
    copy.RunScript(pragma + " = " + std::to_string(source.Integer(pragma)));
  }
  copy.Execute("COMMIT");
  copy.Execute("PRAGMA synchronous = FULL");
  if (copy.Text("PRAGMA journal_mode = WAL") != "wal") {
    throw Fault(Fault::Kind::kInternal, "the copy cannot be put into WAL mode");
  }
}

void Delete(const std::string& copy) {
  for (const char* companion : {"", "-wal", "-shm", "-journal"}) {
    ::unlink((copy + companion).c_str());
  }
}

// Closing a connection reports no error if its last checkpoint fails. The log then remains.
void RequireNoLog(const std::string& path) {
  if (::access((path + "-wal").c_str(), F_OK) != 0) return;
  throw Fault(Fault::Kind::kUnavailable, "cannot write " + path + " to its end");
}

}  // namespace

void TakeInLog(const std::string& path, const Clock& clock) {
  try {
    Connection connection(path, Connection::Role::kCopy, "", clock);
    connection.Execute("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kUnavailable) throw;
    throw Fault(fault.kind, "another program has " + path + " open, or the disk fails (" +
                                fault.cause + "): end it, and try again");
  }
  RequireNoLog(path);
}

void CopyTables(const std::string& path, const std::string& copy, const Clock& clock) {
  Delete(copy);
  MakeDatabaseFile(copy);
  try {
    Connection source(path, Connection::Role::kFrozen, "", clock);
    {
      Connection target(copy, Connection::Role::kCopy, "", clock);
      Fill(source, target, path);
    }
    RequireNoLog(copy);
    SyncPath(copy);
    Connection copied(copy, Connection::Role::kFrozen, "", clock);
    for (const Made& table : MadeBySchema(source, true)) {
      RequireSameRows(source, copied, table.name);
    }
    if (HasStatistics(source)) RequireSameRows(source, copied, std::string(kStatistics));
  } catch (...) {
    Delete(copy);
    throw;
  }
}

}  // namespace comanda::db
