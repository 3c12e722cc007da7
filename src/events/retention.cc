#include "events/retention.h"

#include <algorithm>
#include <span>
#include <vector>

#include "events/store.h"
#include "http/idempotency.h"

namespace comanda::events {
namespace {

constexpr int64_t kHourMs = 60 * 60 * 1000;
constexpr int64_t kPurgedAtOnce = 100;  // tills wait for a job: some milliseconds
constexpr int kJobsMax = 5;             // of a company in one pass
constexpr int64_t kRecordKeptMs = 90 * 24 * kHourMs;

// The seq of the last event that this step deletes; 0: none.
int64_t LastToPurge(db::Session& session, db::CompanyId company, int64_t old_mark) {
  const Extent extent = ExtentOf(session, company);
  const int64_t last = store::EventAtMark(session, company, old_mark).value_or(0);
  return last < extent.oldest ? 0 : std::min(last, extent.oldest + kPurgedAtOnce - 1);
}

bool IsOrder(const store::Subject& subject) {
  return subject.type == Row(Type::kOrderUpdated).subject;
}

void PurgeUpTo(db::Tx& tx, db::CompanyId company, int64_t last,
               std::span<const http::idempotency::RecordName> answers,
               const RecordKeeper& records) {
  const int64_t first = ExtentOf(tx, company).oldest;
  for (const store::Subject& event : store::Subjects(tx, company, first, last, kPurgedAtOnce)) {
    if (IsOrder(event) && records.holds_record(tx, company, event.id, event.seq)) continue;
    store::Delete(tx, company, event.seq);
  }
  store::SetLogStart(tx, company, last + 1);
  http::idempotency::Forget(tx, company, answers);
}

// The rows before the log's start that are old enough for their record to be dropped. Each row is
// examined once, in the order of seq: an order that is still open then gets a newer record when it
// changes, and Append's caller deletes the old row.
struct OldRecords {
  std::vector<store::Subject> rows;
  int64_t last = 0;  // the seq of the last row examined; 0: none
};

OldRecords FindOldRecords(db::Session& session, db::CompanyId company, UtcMs before, UtcMs now) {
  const int64_t from = store::RecordsDroppedTo(session, company) + 1;
  const int64_t log_start = ExtentOf(session, company).oldest;
  OldRecords found;
  for (const store::Time& row : store::Times(session, company, from, kPurgedAtOnce)) {
    const bool is_young = row.at >= before && row.at <= now;
    if (row.seq >= log_start || is_young) break;
    found.last = row.seq;  // a row that a wrong clock stamped later than now does not stop the scan
  }
  if (found.last > 0) {
    found.rows = store::Subjects(session, company, from, found.last, kPurgedAtOnce);
  }
  return found;
}

void DropRecords(db::Tx& tx, db::CompanyId company, const OldRecords& old, UtcMs before,
                 const RecordKeeper& records) {
  for (const store::Subject& row : old.rows) {
    if (records.release_record(tx, company, row.id, before)) store::Delete(tx, company, row.seq);
  }
  store::SetRecordsDroppedTo(tx, company, old.last);
}

struct Due {
  int64_t last = 0;                                    // the last event to purge; 0: none
  std::vector<http::idempotency::RecordName> answers;  // which refer to the events that go
  OldRecords old;
};

Due FindDue(db::Snapshot& session, db::CompanyId company, const Marks& marks, UtcMs closed_before,
            UtcMs now) {
  Due due;
  if (const auto mark = marks.LastBefore(session, kKeptMs)) {
    due.last = LastToPurge(session, company, *mark);
  }
  if (due.last > 0) {
    due.answers = http::idempotency::FindPointingUpTo(session, company, due.last);
  }
  due.old = FindOldRecords(session, company, closed_before, now);
  return due;
}

}  // namespace

void Purge(db::Database& database, const Clock& clock, const Marks& marks, const Feed& feed,
           const RecordKeeper& records) {
  const UtcMs now = clock.RetentionNow();
  const UtcMs closed_before = now - kRecordKeptMs;
  const auto companies =
      database.Read([](db::Snapshot& snapshot) { return store::Companies(snapshot); });
  for (const db::CompanyId company : companies) {
    for (int i = 0; i < kJobsMax; ++i) {
      const Due due = database.Read([&](db::Snapshot& snapshot) {
        return FindDue(snapshot, company, marks, closed_before, now);
      });
      if (due.last == 0 && due.old.last == 0) break;
      if (due.last > 0) {
        database.Write([&](db::Tx& tx, const db::Stamp&) {
          feed.Purged(tx, company, due.last);
          PurgeUpTo(tx, company, due.last, due.answers, records);
        });
      }
      if (due.old.last > 0) {
        database.Write([&](db::Tx& tx, const db::Stamp&) {
          DropRecords(tx, company, due.old, closed_before, records);
        });
      }
    }
  }
}

}  // namespace comanda::events
