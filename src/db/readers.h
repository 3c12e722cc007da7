#pragma once

// The read-only connections of a database: opened when needed, kept for the next request, never
// more than the maximum. Any thread may acquire and release; a connection belongs to one thread in
// between.
//
// Two connections are kept for orders, so that a kitchen display never waits for reports and
// readers of the feed, however many there are: those share the others.

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/time/clock.h"
#include "db/settings.h"

namespace comanda::db {

class Connection;

class ReaderPool {
 public:
  // Opens nothing yet. `settings` and `clock` outlive the pool.
  ReaderPool(const Settings& settings, const Clock& clock);
  ~ReaderPool();

  // A connection with an open read transaction. Waits at most 5 s, then Fault kUnavailable.
  std::unique_ptr<Connection> Acquire(Readers reader);
  // Ends the transaction and keeps the connection, or closes it where it met a failing disk. The
  // same reader as it was acquired for.
  void Release(std::unique_ptr<Connection> connection, Readers reader) noexcept;
  // Closes those that nobody uses.
  void CloseIdle() noexcept;
  // Settings::end_alone.
  bool EndAlone(const std::function<void()>& open);
  bool is_alone() const;

 private:
  std::unique_ptr<Connection> AcquireConnection(Readers reader);
  bool IsFree(Readers reader) const;
  void GiveUpPlace(Readers reader) noexcept;

  const Settings& settings_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Connection>> idle_;  // guarded by mutex_
  int open_ = 0;                                   // guarded by mutex_
  bool is_alone_ = settings_.begins_alone;         // guarded by mutex_
  bool is_ending_ = false;                         // guarded by mutex_; nobody may open one
  int shared_ = 0;  // guarded by mutex_: how many readers kShared have one
};

}  // namespace comanda::db
