#pragma once

// What the writer does when the disk does not do what it is asked, and whether writes are taken.
//
//   writable   the normal state
//   full       a write found no space, and there was no ballast left to give up (db/disk_space.h).
//              Writes are refused with kDiskFull. Before the next job, and every kProbeEveryMs, a
//              probe looks whether a page can be written and synced again.
//   reopening  a write or a sync failed for another reason. After a failed sync nothing that the
//              system still caches for the open file can be trusted, so the file is closed, opened
//              again and must take a write. Meanwhile jobs are refused with kUnavailable. After
//              kReopenMax failures without a commit in between the process ends with status 70, for
//              systemd to start a new one.
//   damaged    the file is not what was written to it. A page that was read wrong may be right on
//              the disk: the file is reopened and checked, and where the check finds damage the
//              process ends at once. A check elsewhere may find damage too (RefuseWrites): then
//              jobs are refused with kReadOnly until the process ends.
//
// A transaction that failed while it was being committed may be whole in the log, where a recovery
// would find it, although its jobs were answered that nothing was done. So after such a failure a
// small transaction is written over it before anything else.
//
// Owns the writer's connection, because reopening replaces it. Belongs to the writer's thread, but
// for the functions that say otherwise.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/metrics.h"
#include "db/checkpointer.h"
#include "db/connection.h"
#include "db/health.h"
#include "db/settings.h"

namespace comanda::db {

class DiskHealth {
 public:
  static constexpr int64_t kProbeEveryMs = 2000;
  static constexpr int kReopenMax = 3;

  // Makes the file where it is missing, opens it and takes it to the program's schema
  // (db/migrate.h). All arguments outlive it. Beats while it works.
  DiskHealth(const Settings& settings, const Clock& clock, Heartbeat& heartbeat,
             Checkpointer& checkpointer, metrics::Registry& metrics);

  // The one to write through, until the next call of a function that may reopen the file:
  // Recover(), Checkpoint(), WhenIdle(), MayWrite().
  Connection& connection() { return *connection_; }

  // False while the disk is full, also after a probe.
  bool MayWrite();
  // After a commit.
  void NoteCommit();
  // A write found no space. True where the ballast was given up: the write may be tried again.
  bool MakeSpace();
  void BecomeFull();
  // After a transaction that did not commit, with what its connection met: rolls back and does what
  // the state needs. Afterwards the next transaction can begin.
  void Recover(Trouble trouble);

  // A checkpoint; makes space where there is none, and reopens the file where the disk fails.
  void Checkpoint(Checkpointer::Mode mode);
  // The same at the end of the process, where a failure has no consequence: the log stays as it is.
  void CheckpointLast();
  // Probes a full disk when it is time.
  void WhenIdle();

  // Any thread.
  Health health() const;
  // Fault where jobs are refused: damaged or reopening. Any thread.
  void RequireOpen() const;
  // Refuses all jobs from now on: the file is damaged. Any thread.
  void RefuseWrites(const std::string& why);

 private:
  std::unique_ptr<Connection> Open();
  void Probe();
  void BecomeWritable();
  void SetHealth(Health health, bool reopening);
  void Reopen(const std::string& why, bool damaged);
  void WriteOver();
  void RequireSound();
  Trouble TryCheckpoint(Checkpointer::Mode mode);
  [[noreturn]] void EndProcess(const std::string& why);
  static int OnProgress(void* self) noexcept;

  const Settings& settings_;
  const Clock& clock_;
  Heartbeat& heartbeat_;
  Checkpointer& checkpointer_;
  const std::string file_;  // for log messages

  std::unique_ptr<Connection> connection_;
  bool writable_ = true;
  int64_t last_probe_ms_ = 0;
  int reopened_in_a_row_ = 0;            // without a commit in between
  int checkpoints_failed_in_a_row_ = 0;  // without one that succeeded in between
  metrics::Counter failures_;

  mutable std::mutex mutex_;
  bool reopening_ = false;  // guarded by mutex_
  bool damaged_ = false;    // guarded by mutex_
  Health health_;           // guarded by mutex_
};

}  // namespace comanda::db
