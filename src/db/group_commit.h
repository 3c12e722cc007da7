#pragma once

// Runs the jobs of one group in one transaction and commits them with one sync (db/writer.h says
// what a group is). Belongs to the writer's thread.
//
// A job that refuses is rolled back alone. The first try has no savepoints, each of which copies
// every page that its job changes (a quarter of what an order costs): where a job of several
// refuses, the whole transaction is rolled back and all jobs run again, each in a savepoint; so do
// those of the next groups, because refusals seldom come alone. Where the transaction itself fails,
// the disk recovers (engine/upkeep.h) and the jobs run again, each in a transaction of its
// own. So a job may run several times; its outcome is that of its last run.

#include <atomic>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "base/heartbeat.h"
#include "base/metrics.h"
#include "db/answered.h"
#include "db/change_counters.h"
#include "engine/upkeep.h"
#include "db/session.h"
#include "db/settings.h"

namespace comanda::db {

using Job = std::function<void(Tx&, const Stamp&)>;

// A job and its outcome, on the stack of the thread that waits for `done`.
struct Request {
  explicit Request(const Job& j) : job(j) {}
  const Job& job;
  std::exception_ptr error;                      // null: committed
  std::vector<std::function<void()>> on_commit;  // what the job publishes
  Answered done;
};
using Group = std::vector<Request*>;

class GroupCommit {
 public:
  // `upkeep` owns the connection. All arguments outlive it; `heartbeat` is beaten between jobs that
  // run alone.
  GroupCommit(const Settings& settings, ChangeCounters& counters, Upkeep& upkeep,
              const Clock& clock, Heartbeat& heartbeat, metrics::Registry& metrics);

  // Leaves in each request of the group what became of it. The group is not empty.
  void Serve(const Group& group);

  // The stamp of a job is the wall clock's time; where that was put back by up to five minutes, it
  // goes on from the last stamp (contract section 1, Timestamps). Says which one was the last. Any
  // thread, before the first job that asks for one.
  void ContinueFrom(UtcMs last_stamp) { last_stamp_ = last_stamp; }

 private:
  struct Metrics {
    Metrics(metrics::Registry& registry, const std::string& labels);
    metrics::Counter commits;
    metrics::Histogram commit_time;
  };

  bool TryTogether(const Group& group);
  void TryAlone(Request& request);
  bool TryOnce(Request& request);
  bool Refused(Request& request) const;
  void RunJob(Request& request, const Stamp& stamp, bool savepoint);
  void ReportSuspicion() const;
  void Begin();
  void Commit();
  void Rollback();
  Stamp NextStamp();

  const Settings& settings_;
  ChangeCounters& counters_;
  Upkeep& upkeep_;
  const Clock& clock_;
  Heartbeat& heartbeat_;
  Metrics metrics_;
  const std::string file_;  // for log messages
  std::atomic<UtcMs> last_stamp_{0};
  int careful_groups_ = 0;  // to come, with savepoints
  bool job_met_full_disk_ = false;
};

}  // namespace comanda::db
