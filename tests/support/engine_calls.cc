#include "support/engine_calls.h"

#include <sqlite3.h>

#include <mutex>
#include <string_view>
#include <utility>

namespace comanda::testing {
namespace {

std::mutex mutex;
bool is_counting = false;  // with the mutex, as all that follows
EngineCalls calls;

void Count(const std::function<void()>& count) {
  const std::lock_guard lock(mutex);
  if (is_counting) count();
}

bool IsOneOf(std::string_view sql, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (sql.starts_with(word)) return true;
  }
  return false;
}

void CountStatement(std::string_view sql) {
  if (sql.starts_with("BEGIN")) {
    ++calls.transactions;
  } else if (!IsOneOf(sql, {"COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE"})) {
    calls.statements.emplace_back(sql);
  }
}

}  // namespace

EngineCalls CallsOf(const std::function<void()>& work) {
  {
    const std::lock_guard lock(mutex);
    calls = {};
    is_counting = true;
  }
  work();
  const std::lock_guard lock(mutex);
  is_counting = false;
  return std::exchange(calls, {});
}

extern "C" {

int __real_sqlite3_step(sqlite3_stmt* statement);
int __wrap_sqlite3_step(sqlite3_stmt* statement) {
  if (sqlite3_stmt_busy(statement) == 0) Count([&] { CountStatement(sqlite3_sql(statement)); });
  return __real_sqlite3_step(statement);
}

int __real_sqlite3_prepare_v3(sqlite3* connection, const char* sql, int bytes, unsigned flags,
                              sqlite3_stmt** statement, const char** rest);
int __wrap_sqlite3_prepare_v3(sqlite3* connection, const char* sql, int bytes, unsigned flags,
                              sqlite3_stmt** statement, const char** rest) {
  Count([&] { calls.prepared.emplace_back(sql); });
  return __real_sqlite3_prepare_v3(connection, sql, bytes, flags, statement, rest);
}

int __real_sqlite3_open_v2(const char* path, sqlite3** connection, int flags, const char* vfs);
int __wrap_sqlite3_open_v2(const char* path, sqlite3** connection, int flags, const char* vfs) {
  Count([] { ++calls.opens; });
  return __real_sqlite3_open_v2(path, connection, flags, vfs);
}

int __real_fsync(int file);
int __wrap_fsync(int file) {
  Count([] { ++calls.syncs; });
  return __real_fsync(file);
}

int __real_fdatasync(int file);
int __wrap_fdatasync(int file) {
  Count([] { ++calls.syncs; });
  return __real_fdatasync(file);
}

}  // extern "C"

}  // namespace comanda::testing
