#pragma once

// Runs the checkpoints of the write-ahead log (FILE-wal).
//
// A commit appends the pages that it has changed to the log. A checkpoint copies them from the log
// to the database file; afterwards the next commit writes from the start of the log again. SQLite's
// automatic checkpoints are off (engine/connection.h): the writer's thread runs all checkpoints,
// between two groups of jobs, so that none runs at the same time as a commit.
//
//   grown by kCheckpointBytes   passive: copies the pages that no reader still needs in the log;
//                               does not wait
//   longer than kRestartBytes   restart: waits for readers to end, and blocks the writer meanwhile.
//                               Without it, readers that follow each other without a pause would
//                               keep the log from starting over. A check of the file ends at once
//                               (Database::log_waits). A reader that goes on for longer than
//                               kReadersWaitMs, as a backup does, is not waited for: tills would
//                               be. It is tried again each kRetryBytes.
//   longer than kLongBytes      the same, and waits up to kReadersWaitLongMs: the log must not fill
//                               the disk.
//   no job for kTruncateIdleMs  truncate: also truncates the file to 0 bytes, if it had grown
//
// A checkpoint that cannot copy all pages because of readers is not a failure: the next one copies
// the rest. The consequence of a failing disk is decided by engine/upkeep.h.
//
// Used on the writer's thread, except for the metrics.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "base/metrics.h"
#include "engine/connection.h"
#include "db/settings.h"

namespace comanda::db {

class Checkpointer {
 public:
  enum class Mode : uint8_t { kPassive, kRestart, kTruncate };

  static constexpr int64_t kCheckpointBytes = 8 << 20;
  static constexpr int64_t kRestartBytes = 16 << 20;
  static constexpr int64_t kRetryBytes = 2 << 20;
  static constexpr int64_t kLongBytes = 24 << 20;
  static constexpr int kReadersWaitMs = 20;
  static constexpr int kReadersWaitLongMs = 250;
  static constexpr int64_t kTruncateIdleMs = 5000;

  // `settings` must outlive it.
  Checkpointer(const Settings& settings, metrics::Registry& metrics);

  // Registers a callback of the connection that reports the length of the log after each commit.
  // The connection must not commit after the checkpointer is destroyed.
  void Follow(Connection& connection);

  // The checkpoint that is due after the commit of a group. To be called once per group.
  std::optional<Mode> WhenGrown();
  // The checkpoint that is due after `idle_ms` without a job.
  std::optional<Mode> WhenIdle(int64_t idle_ms) const;

  // Runs a checkpoint; blocks for the disk. Logs a failure and returns it. Returns kNone also if
  // readers kept it from copying all pages.
  Trouble Run(Connection& connection, Mode mode);

  // Whether a checkpoint waits for readers now. Any thread.
  bool is_waiting() const { return is_waiting_; }

 private:
  static int OnCommit(void* self, sqlite3* handle, const char* name, int pages) noexcept;
  int PagesIn(int64_t bytes) const { return static_cast<int>(bytes / page_bytes_); }

  const std::string file_;  // for log messages
  int64_t page_bytes_ = 4096;
  std::atomic<int> pages_{0};  // length of the log
  std::atomic<bool> is_waiting_{false};
  int tried_at_ = 0;  // length of the log at the last checkpoint, in pages
  int largest_ = 0;   // greatest length since the last truncation, in pages
  metrics::Counter checkpoints_;
  metrics::Gauge pages_gauge_;
};

}  // namespace comanda::db
