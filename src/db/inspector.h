#pragma once

// Looks whether a database file is what was written to it: its pages and its indexes.
//
// Before the database is served, all tables are looked at at full speed (LookBeforeServing): what
// happened to the file while the box was off then leads to no wrong answer. A large file is not
// waited for: a thread goes on where that ended, and once a day it looks at all tables again. For
// each: SQLite's quick_check, and the sweep of the indexes (db/index_sweep.h); last the list of
// free pages. The thread works a fifth of the time, so that requests do not notice. A statement
// that met what only damage explains (Suspect) brings its tables forward, at full speed. What is
// found is found twice, on two connections: a read that fails once is no damage.
//
// A quick_check reads a whole table in one transaction, beside which the log cannot start over
// (db/sqlite/checkpointer.h). When the log waits for that, the check ends, and begins again a
// little later: no till waits for it.
//
// What follows from a finding: an index is rebuilt by the writer, unless the rows with which it
// disagrees are damaged themselves (Settings::is_sound); a wrong row is counted and named in the
// log; a malformed page ends writing.

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/time/clock.h"
#include "db/integrity.h"
#include "db/sqlite/settings.h"

namespace comanda::db {

class Inspector {
 public:
  struct Actions {
    std::function<void(const std::string& index)> rebuild;
    std::function<void(const std::string& row)> note_row;
    std::function<void(const std::string& why, bool is_unread)> refuse_writes;
  };
  static constexpr int64_t kEveryMs = 24 * 3'600'000LL;
  // A table is not brought forward again within that time.
  static constexpr int64_t kSuspectEveryMs = 60'000;

  // `settings` and `clock` outlive it.
  Inspector(const Settings& settings, const Clock& clock, Actions actions);
  ~Inspector();

  // Looks at the tables on this thread, those of Settings::check_first first, and does what follows
  // from wrong indexes and rows; ends after so long. A malformed page is left to the thread. Before
  // Start(). True where something was found.
  bool LookBeforeServing(int64_t max_ms);
  // Begins the thread.
  void Start();
  // Ends the thread. Until it returns, actions may be called.
  void Stop();
  // Any thread; does nothing but take a note.
  void Suspect(const std::string& sql) noexcept;
  // All tables once, on this thread at full speed: what is wrong, with no action. Empty also where
  // it was told to stop. Fault where the file cannot be read.
  Findings LookOnce(std::stop_token stop) const;
  // How often all tables have been looked at since the start. Any thread.
  int64_t rounds() const { return rounds_; }

 private:
  // When a check has to end unfinished: it is told to stop, or its time is up.
  struct End {
    std::stop_token stop;
    const Clock& clock;
    int64_t at_ms = INT64_MAX;
    bool IsReached() const { return stop.stop_requested() || clock.MonotonicMs() >= at_ms; }
  };
  // One reading of a table from its begin to its end.
  struct Reading {
    const End& end;
    const std::function<bool()>& log_waits;
    bool has_given_way = false;
  };
  enum class Pace : uint8_t {
    kIdle,
    kFull,
    kNow,  // at full speed, and what is found is looked at again without a pause
  };

  void Loop(const End& end);
  void LookAtAll(const End& end);
  void LookAtNewSuspects(const End& end);
  void LookAtSuspects(const std::set<std::string>& statements, const End& end);
  void LookAt(const std::string& table, Pace pace, const End& end);
  Findings Examine(const std::string& table, Pace pace, const End& end) const;
  Findings ExamineAtOnce(const std::string& table, const End& end,
                         std::unique_ptr<Connection>& kept) const;
  template <typename Check>
  Findings GivingWay(const End& end, Check&& check) const;
  void Act(const std::string& table, const Findings& findings);
  bool KnowsMoreThanRows(const std::string& table, const std::string& index,
                         bool is_only_one) const;
  std::vector<std::string> Tables(Connection& connection) const;
  std::unique_ptr<Connection> Open(const End* end = nullptr) const;
  static int OnProgress(void* end) noexcept;
  static int OnProgressOfReading(void* reading) noexcept;

  const Settings& settings_;
  const Clock& clock_;
  const Actions actions_;
  const std::string file_;  // for log messages
  std::atomic<int64_t> rounds_{0};
  // The thread's own, before Start() the caller's.
  std::map<std::string, int64_t> looked_at_ms_;
  std::set<std::string> looked_at_;  // of the round under way

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::set<std::string> suspects_;  // statements; guarded by mutex_
  std::jthread thread_;
};

}  // namespace comanda::db
