#pragma once

// Group commit: the one thread that writes to a database.
//
// Callers queue jobs and sleep. The thread takes what queued up while the last COMMIT was syncing,
// runs these jobs one after the other in one transaction, and commits them with one sync: a group.
// So many tills on a slow disk wait for one or two syncs each, not for one per order, and nobody
// waits when there is only one. There is no timer. Four rules:
//
//   bounded        a group has at most group_jobs_max jobs, the queue at most queue_max
//   alone          a job that refuses is rolled back alone; the others of its group are committed
//   exactly once   a job is answered once, after its commit is on disk. It may run several times
//                  before: where a transaction is lost, its jobs run again, one by one
//   in this order  COMMIT; what the jobs publish; their callers wake; the wake-up of those who
//                  follow the event log; checkpoints
//
// The transaction of a group is in db/group_commit.h, what happens when the disk is full or fails
// in engine/upkeep.h, the upkeep of the log in db/sqlite/checkpointer.h.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/time/clock.h"
#include "base/heartbeat.h"
#include "base/metrics.h"
#include "db/change_counters.h"
#include "engine/upkeep.h"
#include "db/group_commit.h"
#include "db/health.h"
#include "db/settings.h"

namespace comanda::db {

class Writer {
 public:
  // Opens the file, migrates it and starts the thread. `settings` and the rest outlive the writer.
  Writer(const Settings& settings, ChangeCounters& counters, const Clock& clock,
         Heartbeats& heartbeats, metrics::Registry& metrics);
  ~Writer();

  // Any thread but the writer's. Returns when the job is committed, throws what it threw.
  void Run(const Job& job);
  void SetAfterCommit(std::function<void()> wake);
  void ContinueFrom(UtcMs last_stamp) { group_commit_.ContinueFrom(last_stamp); }
  Health health() const;
  bool IsReadOnly() const { return upkeep_.IsReadOnly(); }
  // The file was found damaged (engine/upkeep.h). Any thread.
  void RefuseJobs(const std::string& why, bool is_unread = false) {
    upkeep_.RefuseWrites(why, is_unread);
  }
  const Upkeep& upkeep() const { return upkeep_; }
  // Before the next group; does not wait for it. Any thread.
  void Reindex(const std::string& index);
  // Whether a checkpoint waits for readers now. Any thread.
  bool log_waits() const { return upkeep_.log_waits(); }
  // Answers what is queued, then ends the thread. The connection stays until destruction.
  void Stop();

 private:
  struct Metrics {
    Metrics(metrics::Registry& registry, const std::string& labels);
    metrics::Counter jobs;
    metrics::Counter refused;
  };

  void Loop();
  bool Take(Group& group);
  void WhenIdle();
  void ReindexWrong();
  void Answer(const Group& group) noexcept;

  const Settings& settings_;
  const Clock& clock_;
  const std::string file_;  // for the thread's name

  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::vector<Request*> queue_;          // guarded by mutex_
  std::set<std::string> wrong_indexes_;  // for Reindex(); guarded by mutex_
  bool stopping_ = false;                // guarded by mutex_

  std::mutex wake_mutex_;
  std::function<void()> wake_;  // guarded by wake_mutex_

  Heartbeat heartbeat_;
  Metrics metrics_;
  metrics::Gauge queue_gauge_;

  // The writer thread's own.
  Upkeep upkeep_;
  GroupCommit group_commit_;
  int64_t last_job_ms_ = 0;

  std::mutex stop_mutex_;  // one Stop() at a time
  std::jthread thread_;    // behind all that it uses
  std::thread::id thread_id_;
};

}  // namespace comanda::db
