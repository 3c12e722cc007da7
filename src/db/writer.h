#pragma once

// The one thread that writes to a database, with group commit (design section 4). The promises are
// in db/database.h; how they are kept:
//
//   Serve      takes what is queued, answers each job exactly once
//   TryGroup   one transaction for all, with a SAVEPOINT each where jobs refuse; true: committed
//   TryAlone   where the group's transaction was lost: each job again in one of its own
//   Reopen     after a failing disk: a new connection, and the file must take a write through it
//
// Order after a COMMIT: what the jobs publish, then their callers, then the wake-up, then
// checkpoints.

#include <semaphore.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/metrics.h"
#include "db/connection.h"
#include "db/database.h"
#include "db/session.h"

namespace comanda::db {

// A caller's sleep until its job is answered. Not std::binary_semaphore: before it sleeps, that of
// GCC 12 yields the processor again and again, a fifth of all CPU with 64 callers. The one who
// signals does not touch it after the other may have woken.
class Answered {
 public:
  Answered() { ::sem_init(&semaphore_, 0, 0); }
  Answered(const Answered&) = delete;
  Answered& operator=(const Answered&) = delete;
  ~Answered() { ::sem_destroy(&semaphore_); }
  void Wait() {
    while (::sem_wait(&semaphore_) != 0) continue;  // EINTR
  }
  void Signal() { ::sem_post(&semaphore_); }

 private:
  sem_t semaphore_;
};

class Writer {
 public:
  using Job = std::function<void(Tx&, const Stamp&)>;

  // Opens the file, migrates it and starts the thread. `settings` and the rest outlive the writer.
  Writer(const Settings& settings, ChangeCounters& counters, const Clock& clock,
         Heartbeats& heartbeats, metrics::Registry& metrics);
  ~Writer();

  // Any thread but the writer's. Returns when the job is committed, throws what it threw.
  void Run(const Job& job);
  void SetAfterCommit(std::function<void()> wake);
  void ContinueFrom(UtcMs last_stamp) { last_stamp_ = last_stamp; }
  Database::Health health() const;
  // No more jobs: the file is damaged.
  void RefuseJobs(const std::string& why);
  // Answers what is queued, then ends the thread. The connection stays until destruction.
  void Stop();

 private:
  // One call of Run, on its caller's stack until `done`.
  struct Request {
    explicit Request(const Job& j) : job(j) {}
    const Job& job;
    std::exception_ptr error;
    std::vector<std::function<void()>> on_commit;
    Answered done;
  };
  using Group = std::vector<Request*>;

  struct Metrics {
    Metrics(metrics::Registry& registry, const std::string& labels);
    metrics::Counter commits;
    metrics::Counter jobs;
    metrics::Counter refused;
    metrics::Counter checkpoints;
    metrics::Counter disk_failures;
    metrics::Histogram commit_time;
  };

  std::unique_ptr<Connection> Open();
  void Loop();
  bool Take(Group& group);
  void Serve(Group& group);
  bool TryGroup(const Group& group);
  void TryAlone(Request& request);
  void RunJob(Request& request, const Stamp& stamp, bool savepoint);
  void Start();
  void Begin();
  void End(bool commit);
  void Abandon(Trouble trouble);
  void Answer(const Group& group) noexcept;
  Stamp NextStamp();

  bool MadeSpace();
  bool Probe();
  void BecomeFull();
  void BecomeWritable();
  void SetHealth(Database::Health health, bool reopening);
  void Reopen(const std::string& why, bool damaged);
  void WriteOver();
  void TouchFile();
  void RequireSound();
  [[noreturn]] void EndProcess(const std::string& why);

  void WhenIdle();
  void CheckpointWhenGrown();
  void CheckpointOrReopen(int mode);
  Trouble Checkpoint(int mode);
  Trouble TryCheckpoint(int mode);
  static int OnProgress(void* self) noexcept;
  static int OnWalGrowth(void* self, sqlite3* handle, const char* name, int pages) noexcept;

  const Settings& settings_;
  ChangeCounters& counters_;
  const Clock& clock_;
  const std::string file_;  // the last part of the path, for log and metrics

  std::unique_ptr<Connection> connection_;

  std::atomic<UtcMs> last_stamp_{0};

  // The writer thread's own.
  int reopened_in_a_row_ = 0;
  int careful_groups_ = 0;  // to come, with savepoints
  int checkpoints_failed_in_a_row_ = 0;
  int checkpoint_tried_at_ = 0;  // pages of the log then
  int largest_pages_ = 0;        // of the log since it was last truncated
  int64_t last_job_ms_ = 0;
  int64_t last_probe_ms_ = 0;
  bool writable_ = true;
  bool job_met_full_disk_ = false;

  std::atomic<int> wal_pages_{0};

  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::vector<Request*> queue_;  // guarded by mutex_
  bool stopping_ = false;        // guarded by mutex_
  bool reopening_ = false;       // guarded by mutex_
  bool damaged_ = false;         // guarded by mutex_
  Database::Health health_;      // guarded by mutex_

  std::mutex wake_mutex_;
  std::function<void()> wake_;  // guarded by wake_mutex_

  Heartbeat heartbeat_;
  Metrics metrics_;
  metrics::Gauge wal_gauge_;
  metrics::Gauge queue_gauge_;
  std::mutex stop_mutex_;  // one Stop() at a time
  std::jthread thread_;    // behind all that it uses
  std::thread::id thread_id_;
};

}  // namespace comanda::db
