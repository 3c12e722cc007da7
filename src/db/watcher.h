#pragma once

// Reads a database on a connection of its own: for checks that take long and must take no
// connection from requests. Each Read() is a transaction of its own: short ones let SQLite's
// write-ahead log start over. Used by one thread at a time. Of a file, also one that is not served,
// it is made in db/sqlite/file_watcher.h.

#include <memory>
#include <string>

#include "base/time/clock.h"
#include "db/session.h"
#include "db/settings.h"

namespace comanda::db {

class Watcher {
 public:
  // Fault where the database cannot be opened.
  Watcher(const Settings& settings, const Clock& clock);
  // Of a connection whose role is kService, or one that only reads.
  explicit Watcher(std::unique_ptr<Connection> connection);
  Watcher(Watcher&&) noexcept;
  ~Watcher();

  // fn(Snapshot&) in one read transaction.
  template <typename Fn>
  std::invoke_result_t<Fn&, Snapshot&> Read(Fn&& fn) {
    const Transaction transaction(*connection_);
    Snapshot snapshot(*connection_);
    return fn(snapshot);
  }

  // False where the connection was closed by the other end.
  bool IsUsable();

 protected:
  Connection& connection() { return *connection_; }

 private:
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
