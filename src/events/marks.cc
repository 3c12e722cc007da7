#include "events/marks.h"

#include <algorithm>

#include "base/problem.h"
#include "events/store.h"

namespace comanda::events {
namespace {

constexpr int64_t kHourMs = 60 * 60 * 1000;

}  // namespace

std::optional<Mark> LastMark(db::Session& session) { return store::LastMark(session); }

Marks::Marks(db::Database& database, const Clock& clock, int schema_version)
    : database_(database),
      clock_(clock),
      schema_version_(schema_version),
      begin_ms_(clock.MonotonicMs()) {
  try {
    former_ = RepeatedIfUnread([&] {
      return database.Read([](db::Snapshot& snapshot) { return store::LastMark(snapshot); });
    });
  } catch (const Fault& fault) {
    const bool is_unread = fault.kind == Fault::Kind::kUnread;
    if (fault.kind != Fault::Kind::kInternal && !is_unread) throw;
    database.RefuseWrites("the marks of time cannot be read: " + fault.cause, is_unread);
  }
  if (!former_) return;
  base_ms_ = former_->counted_ms;
  current_ = former_->number;
  made_ms_ = former_->counted_ms;
}

int64_t Marks::CountedMs() const { return base_ms_ + clock_.MonotonicMs() - begin_ms_; }

// Counts the time off once, as soon as the system vouches for the wall clock: for what was written
// before this process, and for nothing that this process has written. Under the lock.
void Marks::Credit() {
  if (!former_) return;
  if (!former_->is_synchronised) {
    former_.reset();
    return;
  }
  if (!clock_.IsSynchronised()) return;
  const int64_t ran_ms = clock_.MonotonicMs() - begin_ms_;
  const int64_t off_ms = std::max<int64_t>(clock_.Now() - former_->at - ran_ms, 0);
  if (current_ > former_->number) {
    database_.Write(
        [&](db::Tx& tx, const db::Stamp&) { store::CountTimeOff(tx, *former_, off_ms); });
    *made_ms_ += off_ms;
  }
  base_ms_ += off_ms;
  former_.reset();
}

Mark Marks::Now() const {
  return {.number = current_,
          .counted_ms = CountedMs(),
          .at = clock_.Now(),
          .settled_at = clock_.RetentionNow(),
          .away_ms = clock_.AwayForMs(),
          .is_synchronised = clock_.IsSynchronised()};
}

void Marks::MakeIfDue() {
  const std::lock_guard lock(mutex_);
  Credit();
  // Time off that may be counted later must not be that of what is written until then.
  const bool separates = former_ && current_ == former_->number;
  if (!separates && made_ms_ && CountedMs() - *made_ms_ < kHourMs) return;
  Mark mark = Now();
  ++mark.number;
  try {
    database_.Write([&](db::Tx& tx, const db::Stamp&) {
      mark.counted_ms = CountedMs();  // after all that was committed before
      store::InsertMark(tx, mark, schema_version_);
      if (const auto old = LastBefore(tx, kKeptMs)) store::DeleteMarksBefore(tx, *old);
      // Before any later job: what those write is younger than the mark.
      tx.OnCommit([this, number = mark.number] { current_ = number; });
    });
  } catch (...) {
    former_.reset();  // what is written from now on would get the time off
    throw;
  }
  made_ms_ = mark.counted_ms;
}

void Marks::Renew() {
  const std::lock_guard lock(mutex_);
  Credit();
  const Mark mark = Now();
  if (mark.number == 0) return;
  database_.Write([&](db::Tx& tx, const db::Stamp&) { store::UpdateMark(tx, mark); });
}

std::optional<int64_t> Marks::LastBefore(db::Session& session, int64_t age_ms) const {
  return store::LastMarkBefore(session, CountedMs() - age_ms);
}

bool Marks::IsUpgradedFor(db::Session& session, int64_t age_ms) const {
  return store::AnyMarkOf(session, schema_version_, CountedMs() - age_ms);
}

}  // namespace comanda::events
