#pragma once

// What the writer does when the disk does not do what it is asked, and whether writes are taken.
//
//   writable   the normal state
//   full       a write found no space, and there was no ballast left to give up
//   (db/disk_space.h).
//              Writes are refused with kDiskFull. Before the next job, and every kProbeEveryMs, a
//              probe looks whether a page can be written and synced again.
//   disk read-only
//              the file system refuses all writes (db/read_only.h): found by a look every
//              second or by a write. Writes are refused with kDiskReadOnly, reads go on. The same
//              probe looks whether it ends. A database that is opened in this state has no writer's
//              connection until then (Settings::begins_alone).
//   reopening  a write or a sync failed for another reason. After a failed sync nothing that the
//              system still caches for the open file can be trusted, so the file is closed, opened
//              again and must take a write. Meanwhile jobs are refused with kUnavailable. After
//              kReopenMax failures without a commit in between the process ends with status 70, for
//              systemd to start a new one.
//   read-only  a page of the file is malformed or cannot be read, whatever is tried: what is
//              written into it could destroy more. Jobs are refused with kReadOnly until the
//              process ends, reads go on (RefuseWrites).
//
// A job that meets a page that makes no sense may have met a bad read: the file is reopened and the
// job runs again. A job that fails again has failed alone, and the file is checked soon
// (Settings::suspect). No job, however often it is repeated, ends the process so.
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

#include "base/time/clock.h"
#include "base/heartbeat.h"
#include "base/line_limit.h"
#include "base/metrics.h"
#include "base/problem.h"
#include "db/sqlite/checkpointer.h"
#include "engine/connection.h"
#include "db/health.h"
#include "db/settings.h"

namespace comanda::db {

class Upkeep {
 public:
  static constexpr int64_t kProbeEveryMs = 2000;
  static constexpr int kReopenMax = 3;

  // Makes the file where it is missing, opens it and takes it to the program's schema
  // (db/sqlite/migrate.h). All arguments outlive it. Beats while it works.
  Upkeep(const Settings& settings, const Clock& clock, Heartbeat& heartbeat,
         metrics::Registry& metrics);

  // The one to write through where MayWrite(), until the next call of a function that may reopen
  // the file: Recover(), AfterGroup(), WhenIdle(), MayWrite().
  Connection& connection() { return *connection_; }
  const Connection& connection() const { return *connection_; }

  // False while the disk is full or read-only, also after a probe.
  bool MayWrite();
  // Why not.
  Fault WhyNot() const;
  // Begins the transaction of a group.
  void Begin();
  // Returns when what was written is on disk. What it throws, Recover() is for.
  void Commit();
  void Rollback();
  // A write found no space. True where the ballast was given up: the write may be tried again.
  bool MakeSpace();
  void BecomeFull();
  // After a transaction that did not commit, with what its connection met: rolls back and does what
  // the state needs. Afterwards the next transaction can begin.
  void Recover(Trouble trouble);

  // Makes an index that disagrees with its table again from the table's rows (REINDEX), and logs
  // it; nothing where writes are refused. All pages of both must be sound: REINDEX frees those of
  // the index with whatever they refer to.
  void Reindex(const std::string& index);

  // Behind each group, and behind Reindex(): the checkpoint that is due.
  void AfterGroup();
  // Every second without a job, and since when there was none: looks whether the disk is read-only,
  // probes one that is full or read-only when it is time, runs the checkpoint that is due.
  void WhenIdle(int64_t idle_ms);
  // At the end of the process: a checkpoint, whose failure has no consequence, since the log stays
  // as it is.
  void Last();
  // Whether a checkpoint waits for readers now. Any thread.
  bool log_waits() const { return checkpointer_.is_waiting(); }

  // Any thread.
  Health health() const;
  bool IsReadOnly() const;
  // Fault where jobs are refused: read-only or reopening. Any thread.
  void RequireOpen() const;
  // Refuses all jobs from now on: the file is damaged, or has a part that the disk cannot read.
  // Any thread.
  void RefuseWrites(const std::string& why, bool is_unread = false);

  // The process owns the file (db/lock.h), and nobody takes it away.
  bool IsServing() const { return true; }
  OwnerNote note() const { return {}; }
  bool went_back() const { return false; }
  // Inode and time of birth of the file.
  std::string identity() const;

 private:
  std::unique_ptr<Connection> Open();
  void RequireUsable();
  void BecomeReadOnly();
  void Refuse(Fault::Kind why, const std::string& reason);
  void OpenAgain();
  void NoteCommit();
  void Checkpoint(Checkpointer::Mode mode);
  void Probe();
  void BecomeWritable();
  void SetHealth(Health health, bool reopening);
  void Reopen(const std::string& why);
  void WriteOver();
  Trouble TryCheckpoint(Checkpointer::Mode mode);
  [[noreturn]] void EndProcess(const std::string& why);
  static int OnProgress(void* self) noexcept;

  const Settings& settings_;
  const Clock& clock_;
  Heartbeat& heartbeat_;
  const std::string file_;  // for log messages

  Checkpointer checkpointer_;
  std::unique_ptr<Connection> connection_;  // null: Settings::begins_alone
  bool writable_ = true;
  Fault::Kind why_not_ = Fault::Kind::kDiskFull;  // where not writable_
  int64_t last_probe_ms_ = 0;
  LineLimit lines_of_tries_{1, 60'000};
  int reopened_in_a_row_ = 0;            // without a commit in between
  int checkpoints_failed_in_a_row_ = 0;  // without one that succeeded in between
  metrics::Counter failures_;
  metrics::Counter rebuilt_;

  mutable std::mutex mutex_;
  bool reopening_ = false;       // guarded by mutex_
  bool read_only_ = false;       // guarded by mutex_; the file is damaged
  bool disk_read_only_ = false;  // guarded by mutex_
  Health health_;                // guarded by mutex_
  metrics::Gauge read_only_gauge_;
};

}  // namespace comanda::db
