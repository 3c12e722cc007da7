#pragma once

// All SQL of the room: the event log, the change counters, the marks. Every function runs in the
// caller's transaction, throws Fault where SQLite fails, and checks no rules.

#include <optional>
#include <string>
#include <vector>

#include "db/change_counters.h"
#include "db/session.h"
#include "events/check.h"
#include "events/log.h"
#include "events/marks.h"

namespace comanda::events::store {

// The order number that was given last. It has a checksum of its own.
struct LastOrder {
  std::string business_day;  // YYYY-MM-DD; empty before the first order
  int64_t number = 0;
};

// The row of a company in company_counter, which has a checksum.
struct Counted {
  int64_t seq = 0;
  int64_t log_start = 1;           // the first event that is part of the log
  int64_t chain = 0;               // of the last event
  int64_t chain_start = 1;         // the first event that has a chain
  bool has_all_checksums = false;  // a missing one of an event or an order is damage
  db::ChangeCounters::Values values;
  std::optional<LastOrder> last_order = LastOrder();  // nothing: not what was written
};

// Inserts the row if the company has none yet. If the row is not what was written, or is missing
// although there are events, makes it again from the rows of the log, with a new epoch.
Counted CountersOrNew(db::Tx& tx, db::CompanyId company);
// Writes all but the last order, which is written where a new one is given.
void Save(db::Tx& tx, db::CompanyId company, const Counted& counted,
          const std::optional<LastOrder>& new_order = std::nullopt);
// Fault kDamaged where the row is not what was written.
std::optional<Counted> Counters(db::Session& session, db::CompanyId company);
std::vector<std::pair<db::CompanyId, Counted>> AllCounters(db::Session& session);
bool IsSound(db::Session& session, db::CompanyId company);
// Deletes rows of none of these companies that are not what was written.
void DeleteStrayCounters(db::Tx& tx, const std::vector<db::CompanyId>& companies);

void Insert(db::Tx& tx, db::CompanyId company, const Content& event, int64_t checksum,
            int64_t chain);
// Raises the epoch; events and order numbers count from 1 again.
void CountAnew(db::Tx& tx, db::CompanyId company);
// Raises the epoch of every company; events and order numbers go on.
void RaiseEpochs(db::Tx& tx, int64_t by);
void SetLogStart(db::Tx& tx, db::CompanyId company, int64_t seq);
struct Time {
  int64_t seq;
  UtcMs at;
};
// The times of at most `limit` rows from `first` on, in order; 0 where the row is damaged.
std::vector<Time> Times(db::Session& session, db::CompanyId company, int64_t first, int64_t limit);
std::optional<UtcMs> TimeOf(db::Session& session, db::CompanyId company, int64_t seq);
bool UseRecordAt(db::Session& session, db::CompanyId company, int64_t seq,
                 std::string_view subject_id, int64_t subject_version,
                 const std::function<void(std::string_view body)>& use);
bool HasAllChecksums(db::Session& session, db::CompanyId company);
void SetAllChecksums(db::Tx& tx, db::CompanyId company);
void SetChecksum(db::Tx& tx, db::CompanyId company, int64_t seq, int64_t checksum);
void SetBody(db::Tx& tx, db::CompanyId company, int64_t seq, std::string_view body);
void Delete(db::Tx& tx, db::CompanyId company, int64_t seq);
void DeleteAll(db::Tx& tx, db::CompanyId company);

// The subject of an event. Texts are empty where the row is damaged.
struct Subject {
  int64_t seq = 0;
  std::string type;
  std::string id;
};
// The subjects of at most `limit` events from `first` to `last`, both included, in order.
std::vector<Subject> Subjects(db::Session& session, db::CompanyId company, int64_t first,
                              int64_t last, int64_t limit);

// The seq up to which the purge has examined records (events/retention.h).
int64_t RecordsDroppedTo(db::Session& session, db::CompanyId company);
void SetRecordsDroppedTo(db::Tx& tx, db::CompanyId company, int64_t seq);

// Marks (events/marks.h). Counted times are in milliseconds.
std::optional<Mark> LastMark(db::Session& session);
std::optional<int64_t> LastMarkBefore(db::Session& session, int64_t counted_ms);
bool AnyMarkOf(db::Session& session, int schema_version, int64_t counted_before_ms);
// Writes the mark, and with it the seq of the last event of every company.
void InsertMark(db::Tx& tx, const Mark& mark, int schema_version);
void UpdateMark(db::Tx& tx, const Mark& mark);
// Adds the time off after a process's last mark to all later marks, and the wall clock's right
// time.
void CountTimeOff(db::Tx& tx, const Mark& former, int64_t off_ms);
void DeleteMarksBefore(db::Tx& tx, int64_t mark);
// The seq of the last event of the company at that mark; nothing where the log was empty.
std::optional<int64_t> EventAtMark(db::Session& session, db::CompanyId company, int64_t mark);

std::vector<db::CompanyId> Companies(db::Session& session);
// At most `limit` rows with a greater seq, in order; at least one, and no more than have bodies of
// `bytes_max` together.
void ForEachHead(db::Session& session, db::CompanyId company, int64_t after, int64_t last,
                 const std::function<void(const EventHead&)>& use);
std::vector<StoredEvent> After(db::Session& session, db::CompanyId company, int64_t seq, int limit,
                               size_t bytes_max = SIZE_MAX);

}  // namespace comanda::events::store
