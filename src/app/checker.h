#pragma once

// The background check of one database (app/verification.h): after the start and then once a day,
// with long pauses, so that requests do not notice. What it finds is noted in the database's
// DamagedRows. It makes stored records again that are damaged, those that requests have met first,
// and gives checksums to what older programs have written.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/verification.h"
#include "base/clock.h"
#include "db/database.h"
#include "db/disk_space.h"
#include "events/worker.h"

namespace comanda::app {

// Used by one thread.
class Checker {
 public:
  static constexpr int64_t kEveryMs = 24 * 3'600'000LL;

  // All outlive it.
  Checker(db::Database& database, const db::DiskSpace& space, const Clock& clock)
      : database_(database), space_(space), clock_(clock) {}

  // One part; how long to wait before the next.
  int64_t DoPart(events::Worker::Pass& pass);

 private:
  void Begin();
  void End();
  void RemakeRecords();
  void Complete(const Verification::Part& part, events::Worker::Pass& pass);
  bool MayWrite() const;

  db::Database& database_;
  const db::DiskSpace& space_;
  const Clock& clock_;
  int64_t next_round_ms_ = 0;
  std::unique_ptr<db::Watcher> watcher_;  // of the round under way
  std::optional<Verification> round_;
  std::vector<std::string> remade_;  // damage of this round that is none any more
  bool completes_ = true;  // every order of the company that has no checksum was given one
};

}  // namespace comanda::app
