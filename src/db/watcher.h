#pragma once

// Reads a database file on a connection of its own, beside the process that serves it: for checks
// that take long and must take no connection from requests. Each Read() is a transaction of its
// own: short ones let the write-ahead log start over. Used by one thread at a time.

#include <memory>
#include <string>

#include "base/time/clock.h"
#include "db/sqlite/file_calls.h"
#include "db/session.h"

namespace comanda::db {

class Watcher {
 public:
  // Fault where the file cannot be opened.
  Watcher(const std::string& path, const Clock& clock, const std::string& vfs = "",
          Sharing sharing = Sharing::kShared);
  // The same for a file that nobody writes, such as a backup: nothing beside it is read, made or
  // changed, also on a disk that is read-only.
  static Watcher OfFrozen(const std::string& path, const Clock& clock);
  ~Watcher();

  // fn(Snapshot&) in one read transaction.
  template <typename Fn>
  std::invoke_result_t<Fn&, Snapshot&> Read(Fn&& fn) {
    const Transaction transaction(*connection_);
    Snapshot snapshot(*connection_);
    return fn(snapshot);
  }

  // Like Read(), these throw Fault where the file cannot be read.
  //
  // PRAGMA user_version: which migration the file is of.
  int64_t SchemaVersion();

  // SQLite's own check of every page and index (IntegrityOfAll): what is wrong, a line each; empty
  // where nothing is. A file that cannot be read to its end is a finding.
  std::string IntegrityCheck();

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
};

}  // namespace comanda::db
