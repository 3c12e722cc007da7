#pragma once

// The company's event log: one row per committed change, written in the change's transaction and
// numbered by `seq`, which has no gaps within a company (contract section 13, design section 4).
// Readers follow it from a position of their own (events/feed.h).
//
// The body of an order's latest event is also the order's stored record (orders/record.h). The
// purge (events/retention.h) moves the log's start forward and keeps the rows that hold a record.
// Those rows lie before the log's start: they are not events any more, and no reader sees them.
//
// The epoch of a log is a number that cursors carry (events/cursor.h): when the history of the log
// changes, it is raised, and older cursors are refused.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/change_counters.h"
#include "db/session.h"
#include "events/types.h"

namespace comanda::events {

namespace store {
struct Counted;
}

struct Event {
  std::string_view company_uuid;  // the company's UUID
  Type type;
  Changes changes;
  std::string_view subject_id;
  int64_t subject_version = 0;
  std::string_view body;       // the subject's record after the change, as GET shows it
  std::string_view note = {};  // the event's note as JSON, e.g. {"stock_warning":[…]}; empty: none
};

// The seq of the event that was appended, and that of the log's first event.
struct Appended {
  int64_t seq = 0;
  int64_t log_start = 1;
};

// The counters of a company in the hand of a command that writes an event: the row is read once, by
// the constructor, and written once, by Append(). Nothing else may change the counters between the
// two, such as RaiseCounter().
class HeldCounters {
 public:
  HeldCounters(db::Tx& tx, db::CompanyId company);
  ~HeldCounters();

  // The seq of the event that Append() will write.
  int64_t next_seq() const;
  // The next order number of that business day (YYYY-MM-DD); nothing where the last order was of
  // another day, or its number is not what was written: StartOrderNumbers() then sets the number.
  std::optional<int64_t> NextOrderNumber(std::string_view business_day);
  void StartOrderNumbers(std::string_view business_day, int64_t first);

  // Appends the row and raises the change counter of its type (events/types.h); the counter in
  // memory follows when the transaction is committed. The event_id is a UUID version 5 made from
  // company, epoch and seq, so that a repeated transaction makes the same one. Once only.
  Appended Append(const db::Stamp& stamp, const Event& event);

 private:
  db::Tx& tx_;
  const db::CompanyId company_;
  const std::unique_ptr<store::Counted> counted_;
  bool took_number_ = false;
};

// The same of a command that takes no order number.
Appended Append(db::Tx& tx, db::CompanyId company, const db::Stamp& stamp, const Event& event);

// Raises a change counter without writing an event: imports change many records at once.
void RaiseCounter(db::Tx& tx, db::CompanyId company, Counter counter);

// A row of the table of events. Texts are as they were written.
struct StoredEvent {
  int64_t seq = 0;
  int64_t epoch = 0;
  std::string event_id;
  std::string type;     // TypeRow::name
  std::string changes;  // names of kChangeNames, separated by commas
  std::string subject_type;
  std::string subject_id;
  int64_t subject_version = 0;
  UtcMs at = 0;
  std::string body;
  std::string note;
  std::optional<int64_t> checksum, chain;  // check.h; none: an older program wrote the row
  bool is_damaged = false;                 // the checksum does not match the values
};

// The row with that seq: an event, or a row before the log's start that holds a record.
std::optional<StoredEvent> Find(db::Session& session, db::CompanyId company, int64_t seq);
// The body of that row. Fault kDamaged where the row is damaged.
std::optional<std::string> BodyOf(db::Session& session, db::CompanyId company, int64_t seq);
// Calls use(body) if the row is undamaged and belongs to that subject in that version; returns
// whether it was called. The view is valid during the call. For a page of records, which would
// otherwise copy each of them once more.
bool UseRecordAt(db::Session& session, db::CompanyId company, int64_t seq,
                 std::string_view subject_id, int64_t subject_version,
                 const std::function<void(std::string_view body)>& use);

// Damage (check.h)

// True if the event's checksum matches its values with this body in place of the stored one.
bool HadBody(db::CompanyId company, const StoredEvent& event, std::string_view body);
// Writes this body to the row if HadBody() is true of it; else returns false.
bool RestoreBody(db::Tx& tx, db::CompanyId company, int64_t seq, std::string_view body);
// True once every event and order of the company has been given a checksum: one that has none is
// damaged from then on. Before that, an older program may have written it.
bool HasAllChecksums(db::Session& session, db::CompanyId company);

// Deletes a row before the log's start that held a record. For orders whose record is now the body
// of a newer event.
void DropRecord(db::Tx& tx, db::CompanyId company, int64_t seq);

// At most `limit` rows with a greater seq, in order. Fewer where their bodies would exceed
// `bytes_max` together, but at least one if there is one.
std::vector<StoredEvent> ReadAfter(db::Session& session, db::CompanyId company, int64_t seq,
                                   int limit, size_t bytes_max = SIZE_MAX);

// What a reader needs to know of an event that it only counts: without the body, which is large.
struct EventHead {
  int64_t seq = 0;
  std::string_view type, changes;  // as in StoredEvent; valid during the call
  UtcMs at = 0;
};
// Calls `use` for the events after that seq up to `last`, in order.
void ForEachHead(db::Session& session, db::CompanyId company, int64_t after, int64_t last,
                 const std::function<void(const EventHead&)>& use);

// The seq of the log's first and last event. `oldest` is last + 1 where the log is empty.
struct Extent {
  int64_t epoch = 1;
  int64_t oldest = 1;
  int64_t last = 0;
};
Extent ExtentOf(db::Session& session, db::CompanyId company);

// The counters of a company (company_counter) have a checksum. Where they are not what was written,
// they are made again from the log, with a new epoch, by the next write, and by these at start and
// in the background check.
bool CountersAreSound(db::Session& session, const std::vector<db::CompanyId>& companies);
// `companies` are all that there are.
void MendCounters(db::Tx& tx, const std::vector<db::CompanyId>& companies);

// Loads the change counters of every company into memory. Called once, at start.
void LoadCounters(db::Session& session, db::ChangeCounters& counters);

// The time of the newest event of all companies; 0 where there is none.
UtcMs LastTime(db::Session& session);

// The sum of the change counters of all companies. It never decreases within one database file.
int64_t TotalOfChanges(db::Session& session);

// Raises the epoch of every log: for a database that was restored from a backup. The logs keep
// their events and seqs; cursors and entity tags from before are refused. `by` is a random number
// of at least 1, so that restoring the same backup twice does not give the same epoch.
void RaiseEpochs(db::Tx& tx, int64_t by);

// Deletes the events of the company, raises its epoch, numbers events from 1 again, and raises all
// its change counters. For the reset of the sandbox alone.
void RestartNumbering(db::Tx& tx, db::CompanyId company);

}  // namespace comanda::events
