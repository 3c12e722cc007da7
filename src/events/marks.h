#pragma once

// How long something has been kept, without asking the wall clock: what was written while the clock
// was days behind is not old when it is put right.
//
// Counted time: milliseconds that have certainly passed since the database's first mark. Counted is
// what processes ran, by the monotonic clock, and the time between two processes where the system
// said at both ends that it kept the wall clock right. The latter may be known only when a process
// has run for a while: then the marks of that process are moved with it. Counted time may lag
// behind the true time; it never leads it, whatever the wall clock does.
//
// A mark: a row that says how far each company's event log had come at a moment of counted time.
// What was written before a mark is at least as old as the mark.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "base/time/clock.h"
#include "db/database.h"

namespace comanda::events {

// How long the events of the log are kept, and the answers under an Idempotency-Key: 7 days of
// counted time (contract sections 5, 6).
inline constexpr int64_t kKeptMs = 7LL * 24 * 60 * 60 * 1000;

// The last mark, of this process or of an earlier one.
struct Mark {
  int64_t number = 0;
  int64_t counted_ms = 0;
  UtcMs at = 0;          // by the wall clock
  UtcMs settled_at = 0;  // by the settled clock, steps back left out (Clock::RetentionNow)
  int64_t away_ms = 0;   // Clock::AwayForMs
  bool is_synchronised = false;
};
std::optional<Mark> LastMark(db::Session& session);

// The marks of one database. Any thread.
class Marks {
 public:
  // Counts on from the last mark. Where marks cannot be read, the database takes no more writes.
  // Both outlive this.
  Marks(db::Database& database, const Clock& clock, int schema_version);

  int64_t CountedMs() const;
  // The number of the last mark; 0: there is none. What is written from now on is younger than it.
  int64_t current() const { return current_.load(std::memory_order_relaxed); }

  // Makes a mark where the last is an hour old, or where this process has none and time off may be
  // counted later; deletes those that nothing needs. To be called before requests are answered.
  void MakeIfDue();
  // Writes the time of now into the last mark: before the end, and when the clock was stepped. What
  // was written before the mark is then taken for younger than it is, by an hour at most.
  void Renew();

  // The newest mark that is at least so old.
  std::optional<int64_t> LastBefore(db::Session& session, int64_t age_ms) const;
  // Whether the database has had its form (schema_version) for so long at least.
  bool IsUpgradedFor(db::Session& session, int64_t age_ms) const;

 private:
  Mark Now() const;
  void Credit();

  db::Database& database_;
  const Clock& clock_;
  const int schema_version_;
  const int64_t begin_ms_;           // by the monotonic clock
  std::atomic<int64_t> base_ms_{0};  // counted time at begin_ms_
  std::atomic<int64_t> current_{0};
  std::mutex mutex_;
  std::optional<Mark>
      former_;  // guarded by mutex_; of the process before, until time off is counted
  std::optional<int64_t> made_ms_;  // guarded by mutex_; counted time of the last mark made
};

}  // namespace comanda::events
