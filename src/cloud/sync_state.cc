#include "cloud/sync_state.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "cloud/orders/journal_store.h"

namespace comanda::cloud {
namespace {

// A count reads each order that waits: a long backlog is counted less often.
constexpr int64_t kCountEveryMs = 250, kStepsForEachMs = 4;

bool IsTrouble(State state) { return state == State::kOffline || state == State::kStopped; }

}  // namespace

SyncState::SyncState(const Clock& clock, outbox::LateMessages& late, metrics::Registry& registry)
    : clock_(clock), late_(late), gauges_(registry, *this) {}

SyncState::Gauges::Gauges(metrics::Registry& registry, const SyncState& state)
    : steps_waiting(registry, "comanda_cloud_steps_waiting",
                    "Steps that wait to be sent to the cloud.",
                    [&state] { return static_cast<double>(state.Get().steps_waiting); }),
      late(registry, "comanda_cloud_late",
           "Orders whose step the cloud does not answer while it answers others.",
           [&state] { return static_cast<double>(state.late_.List().size()); }),
      parked(registry, "comanda_cloud_parked", "Orders of which nothing is sent to the cloud.",
             [&state] { return static_cast<double>(state.Get().orders_parked); }),
      differences(registry, "comanda_cloud_differences",
                  "What is not the same here and in the cloud.",
                  [&state] { return static_cast<double>(state.Get().differences); }),
      behind_seconds(
          registry, "comanda_cloud_behind_seconds",
          "The age of the oldest change that waits, in seconds.",
          [&state] {
            const auto oldest = state.Get().oldest;
            const UtcMs now = state.clock_.Now();
            return oldest ? static_cast<double>(std::max<int64_t>(0, now - *oldest)) / 1000 : 0.0;
          }),
      requests_total(registry, "comanda_cloud_requests_total", "Requests to the cloud.",
                     [&state] { return static_cast<double>(state.Get().requests); }),
      bytes_total(registry, "comanda_cloud_bytes_total",
                  "Bytes of bodies sent to the cloud and received from it.",
                  [&state] { return static_cast<double>(state.Get().bytes); }) {}

void SyncState::Enter(State state, std::string reason) {
  const std::lock_guard lock(mutex_);
  if (progress_.state == state && progress_.reason == reason) return;
  if (IsTrouble(state)) {
    log::Warning(
        state == State::kOffline ? "the cloud cannot be reached" : "nothing is sent to the cloud",
        {{"why", reason}});
  } else if (state == State::kInStep && std::exchange(is_trouble_told_, false)) {
    log::Notice("the cloud answers again");
  }
  is_trouble_told_ = is_trouble_told_ || IsTrouble(state);
  if (progress_.state != state) progress_.since = clock_.Now();
  progress_.state = state;
  progress_.reason = std::move(reason);
}

void SyncState::NoteHeard() {
  const std::lock_guard lock(mutex_);
  progress_.heard = clock_.Now();
}

void SyncState::Count(db::Database& database, db::CompanyId company) {
  for (const outbox::Late& late : late_.List()) {
    const bool waits = database.Read(
        [&](db::Snapshot& snapshot) { return store::IsWaiting(snapshot, company, late.key); });
    if (!waits) late_.Remove(late.key);
  }
  // Once nothing waits, a count that is late would let new steps wait.
  const int64_t now_ms = clock_.MonotonicMs();
  const int64_t waiting = Get().steps_waiting;
  const int64_t every_ms = std::max(kCountEveryMs, waiting / kStepsForEachMs);
  if (waiting > 0 && counted_ms_ && now_ms - *counted_ms_ < every_ms) return;
  counted_ms_ = now_ms;
  const Counts counts =
      database.Read([&](db::Snapshot& snapshot) { return store::Count(snapshot, company); });
  const std::lock_guard lock(mutex_);
  progress_.steps_waiting = counts.steps_waiting;
  progress_.orders_parked = counts.orders_parked;
  progress_.differences = counts.differences;
  progress_.oldest = counts.oldest;
}

void SyncState::NoteLinked() {
  const std::lock_guard lock(mutex_);
  progress_.has_read_orders = false;
}

void SyncState::NotePass(const Passed& passed) {
  const std::lock_guard lock(mutex_);
  progress_.scans = passed.scans;
  const bool has_read = progress_.has_read_orders || passed.has_read_orders;
  progress_.has_read_orders = has_read && !passed.owes_poll;
  progress_.next_at = passed.next_at;
}

void SyncState::NoteTraffic(int64_t requests, int64_t bytes, int64_t steps_per_minute) {
  const std::lock_guard lock(mutex_);
  progress_.requests = requests;
  progress_.bytes = bytes;
  progress_.steps_per_minute = steps_per_minute;
}

Progressing SyncState::Get() const {
  Progressing progress;
  {
    const std::lock_guard lock(mutex_);
    progress = progress_;
  }
  progress.late = late_.List();
  return progress;
}

}  // namespace comanda::cloud
