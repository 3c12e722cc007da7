#pragma once

// Reads a database file on a connection of its own, beside the process that serves it: for checks
// that take long and must take no connection from requests. Each Read() is a transaction of its
// own: short ones let the write-ahead log start over. Used by one thread at a time.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "db/session.h"
#include "db/sqlite/file_calls.h"
#include "db/sqlite/self_check.h"

namespace comanda::db {

class Watcher {
 public:
  // Fault where the file cannot be opened.
  Watcher(const std::string& path, const Clock& clock, const std::string& vfs = "",
          Sharing sharing = Sharing::kShared);
  // The same for a file that nobody writes, such as a backup: nothing beside it is read, made or
  // changed, also on a disk that is read-only.
  static Watcher OfFrozen(const std::string& path, const Clock& clock);
  // The same, and a statement that takes longer than Connection::kGlanceMaxMs ends with Fault
  // kUnavailable.
  static Watcher OfStill(const std::string& path, const Clock& clock);
  Watcher(Watcher&&) noexcept;
  ~Watcher();

  // fn(Snapshot&) in one read transaction.
  template <typename Fn>
  std::invoke_result_t<Fn&, Snapshot&> Read(Fn&& fn) {
    const Transaction transaction(*connection_);
    Snapshot snapshot(*connection_);
    return fn(snapshot);
  }

  // From now on `ends` is called every few hundred microseconds while a statement runs, which ends
  // with Fault kUnavailable where it returns true. It must not throw.
  void EndWhen(std::function<bool()> ends);

  // Like Read(), these throw Fault where the file cannot be read.
  //
  // PRAGMA user_version: which migration the file is of.
  int64_t SchemaVersion();
  // The names of the tables, sorted.
  std::vector<std::string> Tables();
  // db/sqlite/self_check.h
  SelfCheck CheckTable(const std::string& table);
  SelfCheck CheckPagesOfTable(const std::string& table);
  SelfCheck CheckFile();
  SelfCheck CheckPages();

 private:
  explicit Watcher(std::unique_ptr<Connection> connection);

  class Transaction {
   public:
    explicit Transaction(Connection& connection);
    ~Transaction();

   private:
    Connection& connection_;
  };

  std::unique_ptr<Connection> connection_;
  std::unique_ptr<std::function<bool()>> ends_;  // at an address that SQLite keeps
};

}  // namespace comanda::db
