#pragma once

// The background check of one database, whose parts a worker runs one after the other: each table
// with its indexes and the list of free pages (integrity/file.h), then what the rows mean
// (integrity/verification.h), since rows are found through indexes. All of it once after the start
// and once a day. A statement that met what damage may explain (Database::TakeSuspicion) brings the
// tables forward. What happened to a small file while the box was off is found before it is served
// (CheckBeforeServing). Nothing else in the program looks for damage, apart from the checksums of
// the rows that a request reads.
//
// What follows from a finding is decided here:
//
//   a malformed page            the database takes no more writes (Database::RefuseWrites) until a
//                               technician repairs it (integrity/repair.h) or restores a backup
//   one that cannot be read     the same, where it is found four times within some seconds
//   an index disagrees with     is made again (REINDEX), unless orders are damaged: then the index
//   its table                   may be all that still knows what they were, and is kept
//   a row                       is noted (db/damaged_rows.h): log, /readyz and a metric name it
//   the stored record of        is rendered again, those first that requests have met
//   an order
//
// The check takes a fifth of a core for tables and a fiftieth for rows. A table is read in one
// transaction, beside which the write-ahead log cannot start over: when the log waits for it, the
// check of the table ends and begins again.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "db/database.h"
#include "db/disk_space.h"
#include "db/watcher.h"
#include "integrity/finding.h"
#include "integrity/verification.h"

namespace comanda::integrity {

// Makes the counters of companies again that are damaged (events/log.h). Fault where that cannot be
// written, or the companies cannot be read.
void MendCounters(db::Database& database);

// Used by one thread at a time.
class Checker {
 public:
  // Called every few milliseconds; what it throws ends the part (events::Worker::Pass::Beat).
  using Beat = std::function<void()>;

  static constexpr int64_t kEveryMs = 24 * 3'600'000LL;
  // The tables are not brought forward again within that time.
  static constexpr int64_t kSuspectEveryMs = 5 * 60'000;

  // All outlive it. `file` for the log.
  Checker(std::string file, db::Database& database, const db::DiskSpace& space, const Clock& clock)
      : file_(std::move(file)), database_(database), space_(space), clock_(clock) {}

  // Checks as many tables as it can in that time, at full speed, and returns when their indexes are
  // as they must be. The others, and pages that cannot be read, are left to DoPart().
  void CheckBeforeServing(int64_t max_ms);
  // One part; how many ms to wait before the next.
  int64_t DoPart(const Beat& beat);
  // How often all tables and rows were checked.
  int64_t rounds() const { return rounds_; }

 private:
  struct Round {
    int64_t begun_ms = 0;
    std::vector<std::string> tables;
    size_t next_table = 0;
    Findings of_tables = {};                    // rows that are damaged, indexes that are kept
    std::unique_ptr<db::Watcher> watcher = {};  // of the rows
    Verification rows = {};
    std::vector<std::string> remade = {};  // damage that is none any more
    bool completes = true;  // every order of the company that has no checksum was given one
  };
  // How a part goes.
  struct Pace {
    bool is_full = false;        // without pauses
    const Beat* beat = nullptr;  // null: before the database is served
    int64_t until_ms = 0;        // where there is no beat
  };
  struct Over {};  // thrown where the part ended before its end

  void Begin();
  void BringTablesForward();
  bool CheckNextTable(const Pace& pace);
  Findings Examine(const std::string& table, const Pace& pace);
  std::optional<Findings> Look(const std::string& table, const Pace& pace, bool gives_way);
  bool Reindex(const Findings& found, const std::string& table, const Pace& pace,
               std::set<std::string>& tried);
  bool OrdersAreSound(const Pace& pace);
  bool CheckNextRows(const Beat& beat);
  void End();
  void RemakeRecords();
  void Complete(const Verification::Part& part, const Beat& beat);
  bool MayWrite() const;
  bool IsOver(const Pace& pace) const;
  void Wait(const Pace& pace, int64_t ms) const;

  const std::string file_;
  db::Database& database_;
  const db::DiskSpace& space_;
  const Clock& clock_;
  std::optional<Round> round_;  // under way
  int64_t due_ms_ = 0;          // of the next one
  int64_t rests_until_ms_ = 0;  // behind a part of the rows
  bool is_suspected_ = false;
  int64_t suspected_ms_ = -kSuspectEveryMs;  // when the tables were last brought forward
  int64_t rounds_ = 0;
};

}  // namespace comanda::integrity
