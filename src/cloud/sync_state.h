#pragma once

// What the sync says of itself to people: its state and the reason, when the cloud was heard, what
// is pending; for `comanda cloud status`, /readyz and the metrics. Kept in memory, written by the
// worker of the sync. Any thread.

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "base/time/clock.h"
#include "base/metrics.h"
#include "cloud/orders/journal.h"
#include "cloud/status.h"
#include "db/database.h"
#include "outbox/late.h"

namespace comanda::cloud {

class SyncState {
 public:
  // All outlive it.
  SyncState(const Clock& clock, outbox::LateMessages& late, metrics::Registry& registry);

  // Logs the beginning of trouble, and that the cloud answers again.
  void Enter(State state, std::string reason);
  // The cloud gave a usable answer. The state stays.
  void NoteHeard();
  // Counts what is pending, and forgets what is late no more: it was discarded, parked or dropped.
  // A long backlog is not counted each time.
  void Count(db::Database& database, db::CompanyId company);
  // The next Count() counts.
  void CountAnew() { counted_ms_.reset(); }
  struct Passed {
    bool scans = false;  // as in Progressing
    bool has_read_orders = false;
    bool owes_poll = false;  // they are read once the cloud answers for its events
    std::optional<UtcMs> next_at;
  };
  // The link was made again, maybe with another cloud: nothing of it has been read.
  void NoteLinked();
  // At the end of a pass.
  void NotePass(const Passed& passed);
  // Since the start.
  void NoteTraffic(int64_t requests, int64_t bytes, int64_t steps_per_minute);

  Progressing Get() const;

 private:
  struct Gauges {
    Gauges(metrics::Registry& registry, const SyncState& state);
    metrics::Gauge steps_waiting, late, parked, differences, behind_seconds, requests_total,
        bytes_total;
  };

  const Clock& clock_;
  outbox::LateMessages& late_;
  std::optional<int64_t> counted_ms_;  // monotonic; the worker's thread alone
  mutable std::mutex mutex_;
  Progressing progress_;          // guarded by mutex_; without the late ones
  bool is_trouble_told_ = false;  // in the log, and no end of it; guarded by mutex_
  const Gauges gauges_;
};

}  // namespace comanda::cloud
