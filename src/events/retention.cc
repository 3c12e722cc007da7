#include "events/retention.h"

#include <algorithm>

#include "events/store.h"

namespace comanda::events {
namespace {

constexpr int64_t kHourMs = 60 * 60 * 1000;
constexpr int64_t kKeptMs = 7 * 24 * kHourMs;
constexpr int64_t kStandsAfterMs = 24 * kHourMs;
constexpr int64_t kEvidenceMs = 2 * kHourMs;
constexpr int64_t kPurgedAtOnce = 500;
constexpr int64_t kLookedAtMax = 5000;

// The number of the first event at or after that time, by bisection: times follow the numbers but
// for corrections of the clock, so no index is written for this with every order.
int64_t FirstAtOrAfter(db::Session& session, db::CompanyId company, UtcMs time, int64_t first,
                       int64_t end) {
  while (first < end) {
    const int64_t middle = first + (end - first) / 2;
    if (store::TimeOf(session, company, middle).value_or(time) < time) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first;
}

// The last event that may go; 0: none.
int64_t LastToDelete(db::Session& session, db::CompanyId company, UtcMs now) {
  const Extent extent = ExtentOf(session, company);
  const UtcMs stood_since = now - kStandsAfterMs;
  const int64_t evidence =
      FirstAtOrAfter(session, company, stood_since - kEvidenceMs, extent.oldest, extent.last + 1);
  const std::optional<UtcMs> seen = store::TimeOf(session, company, evidence);
  if (!seen || *seen > stood_since) return 0;

  // Only what stands before an event of a sound time may go with it: an event is as young as the
  // next that is. Later than now, or earlier than one before it, is what a wrong clock stamped.
  const UtcMs old_before = now - kKeptMs - kStandsAfterMs - kEvidenceMs;
  UtcMs latest = 0;
  int64_t last = 0;
  for (const store::Time& event : store::Times(session, company, extent.oldest, kLookedAtMax)) {
    if (event.at > now || event.at < latest) continue;
    if (event.at >= old_before) break;
    latest = event.at;
    last = event.seq;
  }
  return std::min(last, extent.oldest + kPurgedAtOnce - 1);
}

}  // namespace

void Purge(db::Database& database, const Clock& clock) {
  const UtcMs now = clock.RetentionNow();
  const auto companies =
      database.Read([](db::Snapshot& snapshot) { return store::Companies(snapshot); });
  for (const db::CompanyId company : companies) {
    const int64_t last =
        database.Read([&](db::Snapshot& snapshot) { return LastToDelete(snapshot, company, now); });
    if (last == 0) continue;
    database.Write([&](db::Tx& tx, const db::Stamp&) { store::DeleteUpTo(tx, company, last); });
  }
}

}  // namespace comanda::events
