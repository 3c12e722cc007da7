#pragma once

// The thread that looks whether a database file is what was written to it, while it is served.
//
// After the start and then once a day it goes through all tables: SQLite's quick_check of each, the
// list of free pages, and the sweep of the indexes (db/index_sweep.h). It works a fifth of the
// time, so that requests do not notice. A statement that met what only damage explains (Suspect)
// brings its tables forward, at full speed. What is found is found twice, on two connections: a
// read that fails once is no damage.
//
// What follows from a finding: an index is rebuilt by the writer; a wrong row is counted and named
// in the log; a malformed page ends writing.

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

#include "base/clock.h"
#include "db/integrity.h"
#include "db/settings.h"

namespace comanda::db {

class Inspector {
 public:
  struct Actions {
    std::function<void(const std::string& index)> rebuild;
    std::function<void(const std::string& row)> note_row;
    std::function<void(const std::string& why)> refuse_writes;
  };
  static constexpr int64_t kEveryMs = 24 * 3'600'000LL;
  // A table is not brought forward again within that time.
  static constexpr int64_t kSuspectEveryMs = 60'000;

  // `settings` and `clock` outlive it.
  Inspector(const Settings& settings, const Clock& clock, Actions actions);
  ~Inspector();

  // Begins the thread. Until then nothing is looked at.
  void Start();
  // Ends the thread. Until it returns, actions may be called.
  void Stop();
  // Any thread; does nothing but take a note.
  void Suspect(const std::string& sql) noexcept;
  // All tables once, on this thread at full speed: what is wrong, with no action. Empty also where
  // it was told to stop. Fault where the file cannot be read.
  Findings LookOnce(std::stop_token stop) const;

 private:
  enum class Pace : uint8_t {
    kIdle,
    kFull,
    kNow,  // at full speed, and what is found is looked at again without a pause
  };

  void Loop(std::stop_token stop);
  void LookAtAll(std::stop_token stop);
  void LookAtSuspects(std::set<std::string> statements, std::stop_token stop);
  void LookAt(const std::string& table, Pace pace, std::stop_token stop);
  Findings Examine(const std::string& table, Pace pace, std::stop_token stop) const;
  void Act(const Findings& findings);
  std::unique_ptr<Connection> Open() const;

  const Settings& settings_;
  const Clock& clock_;
  const Actions actions_;
  const std::string file_;                       // for log messages
  std::map<std::string, int64_t> looked_at_ms_;  // the thread's own

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::set<std::string> suspects_;  // statements; guarded by mutex_
  std::jthread thread_;
};

}  // namespace comanda::db
