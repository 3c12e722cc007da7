#pragma once

// One environment: a database file with its keys, and the dispatcher that answers for it. A box has
// two, live and test; nothing crosses between them (contract section 14).

#include <functional>
#include <string>
#include <vector>

#include "app/checker.h"
#include "auth/gate.h"
#include "auth/key_table.h"
#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/metrics.h"
#include "config/options.h"
#include "db/database.h"
#include "db/disk_space.h"
#include "events/feed.h"
#include "events/marks.h"
#include "http/dispatch.h"
#include "http/long_polls.h"

namespace comanda::app {

// The most connections at once.
int WorkersOf(auth::Mode mode, const config::Options& options);

// What the settings want to be kept free.
db::SpaceSettings SpaceOf(const config::Options& options);

// DIR/live.db or DIR/test.db.
std::string DatabasePath(auth::Mode mode, const config::Options& options);

// Told the steps of an upgrade, now and then; what it throws ends the upgrade.
using Upgrading = std::function<void(const std::string& step)>;
// More lines of /readyz.
using MoreChecks = std::function<void(std::vector<http::Readiness>& checks)>;

class Environment {
 public:
  // Opens DIR/live.db or DIR/test.db with its migrations and loads keys and counters into memory.
  // The caller holds the lock of the data directory; what is given outlives the environment.
  Environment(auth::Mode mode, const config::Options& options, const Clock& clock,
              db::DiskSpace& space, http::AnswerBudget& answer_budget, Heartbeats& heartbeats,
              metrics::Registry& metrics, const Upgrading& upgrading, MoreChecks more_checks = {});
  ~Environment();

  db::Database& database() { return database_; }
  http::Dispatcher& dispatcher() { return dispatcher_; }
  // Ends the long polls: the server stops.
  void StopWaiting() { long_polls_.Stop(); }

  // Now and then: writes down when keys were last used and deletes what has been kept long enough.
  // Tells its progress.
  void DoChores(const std::function<void()>& progress);
  // A part of the background check; how long to wait before the next.
  int64_t CheckPart(events::Worker::Pass& pass) { return checker_.DoPart(pass); }
  // When the chores are due that write down which keys have ended: within that time or sooner.
  int64_t DueInMs(int64_t max_ms) const;
  // Before the end: what is otherwise written down now and then.
  void WriteDown();
  events::Marks& marks() { return marks_; }
  // Whether the copy from before the last upgrade has been kept long enough.
  bool UpgradeIsOld();

 private:
  void NoteServed();
  void WriteDownEnds();

  const auth::Mode mode_;
  const config::Options& options_;
  bool was_upgraded_ = false;  // or made
  const Clock& clock_;
  const db::DiskSpace& space_;
  events::Feed feed_;  // before the database, whose commits call it
  http::LongPolls long_polls_;
  events::Feed::Reader long_polls_reader_;
  http::AnswerCache answers_;
  db::Database database_;
  events::Marks marks_;
  auth::KeyTable keys_;
  auth::Gate gate_;
  http::Site site_;
  http::Dispatcher dispatcher_;
  Checker checker_;
};

}  // namespace comanda::app
