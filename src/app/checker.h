#pragma once

// The background check of one database: its pages and indexes first (db/inspector.h), then what the
// rows mean (app/verification.h), since rows are found through indexes. The inspector keeps the
// schedule, after the start and then once a day; whenever it is through, the rows are checked, with
// long pauses, so that requests do not notice. What is found is noted in the database's
// DamagedRows. Stored records that are damaged are made again, those that requests have met first,
// and what older programs have written is given checksums.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/verification.h"
#include "base/time/clock.h"
#include "db/database.h"
#include "db/sqlite/disk_space.h"
#include "events/worker.h"

namespace comanda::app {

// Makes the counters of companies again that are damaged (events/log.h). Fault where that cannot be
// written, or the companies cannot be read.
void MendCounters(db::Database& database);

// Used by one thread.
class Checker {
 public:
  // All outlive it. `file` for the log.
  Checker(std::string file, db::Database& database, const db::DiskSpace& space, const Clock& clock)
      : file_(std::move(file)), database_(database), space_(space), clock_(clock) {}

  // One part; how long to wait before the next.
  int64_t DoPart(events::Worker::Pass& pass);

 private:
  void Begin();
  void End();
  void RemakeRecords();
  void Complete(const Verification::Part& part, events::Worker::Pass& pass);
  bool MayWrite() const;

  const std::string file_;
  db::Database& database_;
  const db::DiskSpace& space_;
  const Clock& clock_;
  int64_t rounds_ = 0;                    // of the inspector, after which the rows were checked
  int64_t begun_ms_ = 0;                  // the round under way
  std::unique_ptr<db::Watcher> watcher_;  // of the round under way
  std::optional<Verification> round_;
  std::vector<std::string> remade_;  // damage of this round that is none any more
  bool completes_ = true;  // every order of the company that has no checksum was given one
};

}  // namespace comanda::app
