#pragma once

// The upkeep of the write-ahead log (FILE-wal).
//
// A commit appends the pages that it changed to the log. A checkpoint copies them from the log into
// the database file; afterwards the next commit writes to the log from its start again. SQLite is
// told to do none by itself (db/connection.h): the writer's thread does them all, between two
// groups, so that no checkpoint runs beside a commit.
//
//   grown by kCheckpointBytes   passive: copies what no reader needs any more in the log, and waits
//                               for nobody
//   longer than kRestartBytes   restart: readers that never pause keep the log from starting over;
//                               this waits for them, at most kReadersWaitMs, holding up the writer
//   no job for kTruncateIdleMs  truncate: also cuts the file to nothing, once it had grown
//
// A checkpoint that finds readers in its way has not failed: what they need is left for the next
// one. What a failing disk means is decided by db/disk_health.h.
//
// Belongs to the writer's thread, but for the metrics.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "base/metrics.h"
#include "db/connection.h"
#include "db/settings.h"

namespace comanda::db {

class Checkpointer {
 public:
  enum class Mode : uint8_t { kPassive, kRestart, kTruncate };

  static constexpr int64_t kCheckpointBytes = 8 << 20;
  static constexpr int64_t kRestartBytes = 16 << 20;
  static constexpr int kReadersWaitMs = 250;
  static constexpr int64_t kTruncateIdleMs = 5000;

  // `settings` outlive it.
  Checkpointer(const Settings& settings, metrics::Registry& metrics);

  // From now on the commits of this connection say how long the log is. The connection must not
  // commit after the checkpointer is gone.
  void Follow(Connection& connection);

  // The checkpoint that is due after a commit; asked once per group.
  std::optional<Mode> WhenGrown();
  // The one that is due when no job has come for so long.
  std::optional<Mode> WhenIdle(int64_t idle_ms) const;

  // Does one. kNone also where readers were in the way; what failed is in the log.
  Trouble Run(Connection& connection, Mode mode);

 private:
  static int OnCommit(void* self, sqlite3* handle, const char* name, int pages) noexcept;
  int PagesIn(int64_t bytes) const { return static_cast<int>(bytes / page_bytes_); }

  const std::string file_;  // for log messages
  int64_t page_bytes_ = 4096;
  std::atomic<int> pages_{0};  // in the log
  int tried_at_ = 0;           // pages in the log at the last checkpoint
  int largest_ = 0;            // pages that the log has had since it was last truncated
  metrics::Counter checkpoints_;
  metrics::Gauge pages_gauge_;
};

}  // namespace comanda::db
