#pragma once

// The read-only connections of a database: opened when needed, kept for the next request, never
// more than the maximum. Any thread may acquire and release; a connection belongs to one thread in
// between.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "db/connection.h"
#include "db/settings.h"

namespace comanda::db {

class ReaderPool {
 public:
  // Opens nothing yet. `settings` and `clock` outlive the pool.
  ReaderPool(const Settings& settings, const Clock& clock) : settings_(settings), clock_(clock) {}

  // A connection with an open read transaction. Waits at most 5 s, then Fault kUnavailable.
  std::unique_ptr<Connection> Acquire();
  // Ends the transaction and keeps the connection, or closes it where it met a failing disk.
  void Release(std::unique_ptr<Connection> connection) noexcept;
  // Closes those that nobody uses.
  void CloseIdle() noexcept;

 private:
  std::unique_ptr<Connection> AcquireConnection();
  void GiveUpPlace() noexcept;

  const Settings& settings_;
  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Connection>> idle_;  // guarded by mutex_
  int open_ = 0;                                   // guarded by mutex_
};

}  // namespace comanda::db
