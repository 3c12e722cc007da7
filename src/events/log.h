#pragma once

// The company's event log: exactly one row per committed change, written in its own transaction,
// `seq` gapless per company (contract section 13, design section 4). Webhooks, sync, long polls and
// the feed read it with their own cursors.
//
// The body of an order's latest event is also the order's stored record (orders/record.h). So when
// the log is purged (retention.h), the rows that hold a record stay, before the start of the log:
// they are events no longer, and no reader of the log sees them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/change_counters.h"
#include "db/session.h"
#include "events/types.h"

namespace comanda::events {

struct Event {
  std::string_view company_id;  // the company's UUID
  Type type;
  Changes changes;
  std::string_view subject_id;
  int64_t subject_version = 0;
  std::string_view body;       // the record after the change, as GET shows it
  std::string_view note = {};  // further members of the event as JSON, e.g. {"stock_warning":[…]}
};

// Where an event was written, and where the log starts.
struct Appended {
  int64_t seq = 0;
  int64_t log_start = 1;
};

// Appends the row, raises the counter of its kind and publishes it at commit. The event_id is
// derived from company, epoch and seq (UUID version 5), so nothing random is needed here.
Appended Append(db::Tx& tx, db::CompanyId company, const db::Stamp& stamp, const Event& event);

// Raises a change counter without an event (imports).
void RaiseCounter(db::Tx& tx, db::CompanyId company, Counter counter);

// A row of the log as it was written.
struct StoredEvent {
  int64_t seq = 0;
  int64_t epoch = 0;
  std::string event_id;
  std::string type;     // its name on the wire
  std::string changes;  // names, comma-separated
  std::string subject_type;
  std::string subject_id;
  int64_t subject_version = 0;
  UtcMs at = 0;
  std::string body;
  std::string note;
  std::optional<int64_t> checksum, chain;  // check.h; none: of an older program
  bool is_damaged = false;                 // the row is not what was written
};

// One event, or a row before the log's start that holds a record.
std::optional<StoredEvent> Find(db::Session& session, db::CompanyId company, int64_t seq);
// The body of that row; Fault kDamaged where the row is not what was written.
std::optional<std::string> BodyOf(db::Session& session, db::CompanyId company, int64_t seq);
// The body of that row where it is sound and shows the record of that subject in that version.
std::optional<std::string> RecordAt(db::Session& session, db::CompanyId company, int64_t seq,
                                    std::string_view subject_id, int64_t subject_version);

// Damage (check.h)

// Whether this was the event's body when it was written, as far as its checksum can say.
bool HadBody(db::CompanyId company, const StoredEvent& event, std::string_view body);
// Puts it back where it was the event's body; false where it was not.
bool RestoreBody(db::Tx& tx, db::CompanyId company, int64_t seq, std::string_view body);
// Whether an event or an order of the company that has no checksum is damaged; else it may be of an
// older program.
bool HasAllChecksums(db::Session& session, db::CompanyId company);

// Deletes a row before the log's start whose record was replaced by a newer event.
void DropRecord(db::Tx& tx, db::CompanyId company, int64_t seq);

// At most `limit` events behind that one, in order; fewer where their bodies have more than that
// many bytes, but one at least.
std::vector<StoredEvent> ReadAfter(db::Session& session, db::CompanyId company, int64_t seq,
                                   int limit, size_t bytes_max = SIZE_MAX);

// What the log holds: from its start to the last event written (oldest is last + 1 where it is
// empty).
struct Extent {
  int64_t epoch = 1;
  int64_t oldest = 1;
  int64_t last = 0;
};
Extent ExtentOf(db::Session& session, db::CompanyId company);

// The opaque cursor after the last event, for X-Event-Cursor; read in the same snapshot as the
// rows.
std::string CurrentCursor(db::Session& session, db::CompanyId company);

// At start: the counters of every company into memory.
void LoadCounters(db::Session& session, db::ChangeCounters& counters);

// When the last event of any company was written; 0 where there is none.
UtcMs LastTime(db::Session& session);

// How often the rows of all companies have changed; never falls in the life of a database.
int64_t TotalOfChanges(db::Session& session);

// Another life of all logs, after a backup was restored: they go on, and cursors and tags of the
// former life are refused. `by` is random, from 1: a backup may be restored twice.
void RaiseEpochs(db::Tx& tx, int64_t by);

// Forgets the log and begins a new epoch, so that cursors of the old one are refused: for the
// sandbox alone. Every list has changed then.
void StartAnew(db::Tx& tx, db::CompanyId company);

}  // namespace comanda::events
