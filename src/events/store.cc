#include "events/store.h"

#include <utility>

#include "base/check.h"
#include "base/problem.h"

namespace comanda::events::store {
namespace {

// Columns: event_seq, log_start, event_chain, chain_start, epoch, order_changes, catalogue_changes,
// other_changes, from `first` on.
Counted ReadCounted(const db::Rows& row, int first = 0) {
  Counted counted;
  counted.seq = row.Int(first);
  counted.values.events = counted.seq;
  counted.log_start = row.Int(first + 1);
  counted.chain = row.Int(first + 2);
  counted.chain_start = row.Int(first + 3);
  counted.values.epoch = row.Int(first + 4);
  counted.values.changes[static_cast<size_t>(Counter::kOrders)] = row.Int(first + 5);
  counted.values.changes[static_cast<size_t>(Counter::kCatalogue)] = row.Int(first + 6);
  counted.values.changes[static_cast<size_t>(Counter::kOther)] = row.Int(first + 7);
  return counted;
}

// Columns: seq, epoch, event_id, type, changes, subject_type, subject_id, subject_version, at,
// body, note, checksum. Views of the row. Fault kDamaged where a value is of another type.
Content ReadContent(const db::Rows& row) {
  return {.seq = row.Int(0),
          .epoch = row.Int(1),
          .event_id = row.View(2),
          .type = row.View(3),
          .changes = row.View(4),
          .subject_type = row.View(5),
          .subject_id = row.View(6),
          .subject_version = row.Int(7),
          .at = row.Int(8),
          .body = row.View(9),
          .note = row.View(10)};
}
constexpr int kChecksumColumn = 11;

bool IsSound(db::Session& session, db::CompanyId company, const Content& content,
             std::optional<int64_t> checksum) {
  if (!checksum) return !HasAllChecksums(session, company);
  return *checksum == ChecksumOf(company, content);
}

StoredEvent ReadEvent(db::Session& session, db::CompanyId company, const db::Rows& row) {
  StoredEvent event{.seq = row.Int(0), .is_damaged = true};
  try {
    const Content content = ReadContent(row);
    event.checksum = row.OptionalInt(kChecksumColumn);
    event.chain = row.OptionalInt(kChecksumColumn + 1);
    event.is_damaged = !IsSound(session, company, content, event.checksum);
    event.epoch = content.epoch;
    event.event_id = content.event_id;
    event.type = content.type;
    event.changes = content.changes;
    event.subject_type = content.subject_type;
    event.subject_id = content.subject_id;
    event.subject_version = content.subject_version;
    event.at = content.at;
    event.body = content.body;
    event.note = content.note;
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged) throw;
  }
  return event;
}

// What a damaged row holds is left out, so that the log is kept in order all the same.
template <typename Value, typename Read>
Value OrDefault(Value value, Read&& read) {
  try {
    return read();
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged) throw;
    return value;
  }
}

}  // namespace

Counted CountersOrNew(db::Tx& tx, db::CompanyId company) {
  if (const std::optional<Counted> counted = Counters(tx, company)) return *counted;
  tx.Run("INSERT INTO company_counter (company_id, epoch) VALUES ($1, $2)", company,
         tx.counters().first_epoch());
  const std::optional<Counted> counted = Counters(tx, company);
  CHECK(counted.has_value(), "an insert leaves its row");
  return *counted;
}

void Save(db::Tx& tx, db::CompanyId company, const Counted& counted) {
  const auto& changes = counted.values.changes;
  tx.Run(R"sql(
      UPDATE company_counter SET event_seq = $2, event_chain = $3, order_changes = $4,
        catalogue_changes = $5, other_changes = $6
      WHERE company_id = $1
      )sql",
         company, counted.seq, counted.chain, changes[static_cast<size_t>(Counter::kOrders)],
         changes[static_cast<size_t>(Counter::kCatalogue)],
         changes[static_cast<size_t>(Counter::kOther)]);
}

std::optional<Counted> Counters(db::Session& session, db::CompanyId company) {
  const auto row = session.One(R"sql(
      SELECT event_seq, log_start, event_chain, chain_start, epoch, order_changes,
        catalogue_changes, other_changes
      FROM company_counter WHERE company_id = $1
      )sql",
                               company);
  if (!row) return std::nullopt;
  return ReadCounted(*row);
}

std::vector<std::pair<db::CompanyId, Counted>> AllCounters(db::Session& session) {
  db::Rows rows = session.Query(R"sql(
      SELECT company_id, event_seq, log_start, event_chain, chain_start, epoch, order_changes,
        catalogue_changes, other_changes
      FROM company_counter ORDER BY company_id
      )sql");
  std::vector<std::pair<db::CompanyId, Counted>> all;
  while (rows.Next()) all.emplace_back(rows.Int(0), ReadCounted(rows, 1));
  return all;
}

void Insert(db::Tx& tx, db::CompanyId company, const Content& event, int64_t checksum,
            int64_t chain) {
  tx.Run(R"sql(
      INSERT INTO event (company_id, seq, epoch, event_id, type, changes, subject_type, subject_id,
        subject_version, at, body, note, checksum, chain)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
      )sql",
         company, event.seq, event.epoch, event.event_id, event.type, event.changes,
         event.subject_type, event.subject_id, event.subject_version, event.at, event.body,
         event.note, checksum, chain);
}

void CountAnew(db::Tx& tx, db::CompanyId company) {
  tx.Run(
      "UPDATE company_counter SET epoch = epoch + 1, event_seq = 0, log_start = 1, "
      "records_dropped_to = 0, business_day = '', order_number = 0, event_chain = 0, "
      "chain_start = 1, checksums_complete = 1 WHERE company_id = $1",
      company);
}

void RaiseEpochs(db::Tx& tx, int64_t by) {
  tx.Run("UPDATE company_counter SET epoch = epoch + $1", by);
}

void SetLogStart(db::Tx& tx, db::CompanyId company, int64_t seq) {
  tx.Run("UPDATE company_counter SET log_start = $2 WHERE company_id = $1", company, seq);
}

std::vector<Time> Times(db::Session& session, db::CompanyId company, int64_t first, int64_t limit) {
  std::vector<Time> times;
  db::Rows rows = session.Query(
      "SELECT seq, at FROM event WHERE company_id = $1 AND seq >= $2 ORDER BY seq LIMIT $3",
      company, first, limit);
  while (rows.Next()) {
    const UtcMs at = OrDefault<UtcMs>(0, [&] { return rows.Int(1); });
    times.push_back({rows.Int(0), at});
  }
  return times;
}

std::optional<UtcMs> TimeOf(db::Session& session, db::CompanyId company, int64_t seq) {
  const auto row =
      session.One("SELECT at FROM event WHERE company_id = $1 AND seq = $2", company, seq);
  if (!row) return std::nullopt;
  return OrDefault<std::optional<UtcMs>>(std::nullopt, [&] { return row->Int(0); });
}

std::optional<std::string> RecordAt(db::Session& session, db::CompanyId company, int64_t seq,
                                    std::string_view subject_id, int64_t subject_version) {
  const auto row = session.One(R"sql(
      SELECT seq, epoch, event_id, type, changes, subject_type, subject_id, subject_version, at,
        body, note, checksum
      FROM event WHERE company_id = $1 AND seq = $2
      )sql",
                               company, seq);
  if (!row) return std::nullopt;
  return OrDefault<std::optional<std::string>>(std::nullopt, [&]() -> std::optional<std::string> {
    const Content content = ReadContent(*row);
    const bool is_wanted = content.subject_id == subject_id &&
                           content.subject_version == subject_version &&
                           IsSound(session, company, content, row->OptionalInt(kChecksumColumn));
    if (!is_wanted) return std::nullopt;
    return std::string(content.body);
  });
}

bool HasAllChecksums(db::Session& session, db::CompanyId company) {
  const auto row =
      session.One("SELECT checksums_complete FROM company_counter WHERE company_id = $1", company);
  return row && row->Bool(0);
}

void SetAllChecksums(db::Tx& tx, db::CompanyId company) {
  tx.Run("UPDATE company_counter SET checksums_complete = 1 WHERE company_id = $1", company);
}

void SetChecksum(db::Tx& tx, db::CompanyId company, int64_t seq, int64_t checksum) {
  tx.Run("UPDATE event SET checksum = $3 WHERE company_id = $1 AND seq = $2", company, seq,
         checksum);
}

void SetBody(db::Tx& tx, db::CompanyId company, int64_t seq, std::string_view body) {
  tx.Run("UPDATE event SET body = $3 WHERE company_id = $1 AND seq = $2", company, seq, body);
}

void Delete(db::Tx& tx, db::CompanyId company, int64_t seq) {
  tx.Run("DELETE FROM event WHERE company_id = $1 AND seq = $2", company, seq);
}

void DeleteAll(db::Tx& tx, db::CompanyId company) {
  tx.Run("DELETE FROM event WHERE company_id = $1", company);
  tx.Run("DELETE FROM event_mark WHERE company_id = $1", company);
}

std::vector<Subject> Subjects(db::Session& session, db::CompanyId company, int64_t first,
                              int64_t last, int64_t limit) {
  db::Rows rows = session.Query(R"sql(
      SELECT seq, subject_type, subject_id FROM event
      WHERE company_id = $1 AND seq >= $2 AND seq <= $3 ORDER BY seq LIMIT $4
      )sql",
                                company, first, last, limit);
  std::vector<Subject> subjects;
  while (rows.Next()) {
    const int64_t seq = rows.Int(0);
    subjects.push_back(OrDefault<Subject>({.seq = seq, .type = {}, .id = {}}, [&] {
      return Subject{seq, rows.Text(1), rows.Text(2)};
    }));
  }
  return subjects;
}

int64_t RecordsDroppedTo(db::Session& session, db::CompanyId company) {
  const auto row =
      session.One("SELECT records_dropped_to FROM company_counter WHERE company_id = $1", company);
  return row ? row->Int(0) : 0;
}

void SetRecordsDroppedTo(db::Tx& tx, db::CompanyId company, int64_t seq) {
  tx.Run("UPDATE company_counter SET records_dropped_to = $2 WHERE company_id = $1", company, seq);
}

std::optional<Mark> LastMark(db::Session& session) {
  const auto row = session.One(R"sql(
      SELECT mark, counted_ms, at, settled_at, away_ms, is_synchronised FROM mark
      ORDER BY mark DESC LIMIT 1
      )sql");
  if (!row) return std::nullopt;
  return Mark{.number = row->Int(0),
              .counted_ms = row->Int(1),
              .at = row->Int(2),
              .settled_at = row->Int(3),
              .away_ms = row->Int(4),
              .is_synchronised = row->Bool(5)};
}

std::optional<int64_t> LastMarkBefore(db::Session& session, int64_t counted_ms) {
  const auto row = session.One(
      "SELECT mark FROM mark WHERE counted_ms <= $1 ORDER BY mark DESC LIMIT 1", counted_ms);
  if (!row) return std::nullopt;
  return row->Int(0);
}

bool AnyMarkOf(db::Session& session, int schema_version, int64_t counted_before_ms) {
  return session
      .One("SELECT 1 FROM mark WHERE schema_version = $1 AND counted_ms <= $2 LIMIT 1",
           schema_version, counted_before_ms)
      .has_value();
}

void InsertMark(db::Tx& tx, const Mark& mark, int schema_version) {
  tx.Run(R"sql(
      INSERT INTO mark (mark, counted_ms, at, settled_at, away_ms, is_synchronised, schema_version)
      VALUES ($1, $2, $3, $4, $5, $6, $7)
      )sql",
         mark.number, mark.counted_ms, mark.at, mark.settled_at, mark.away_ms, mark.is_synchronised,
         schema_version);
  tx.Run(R"sql(
      INSERT INTO event_mark (company_id, mark, event_seq)
      SELECT company_id, $1, event_seq FROM company_counter
      )sql",
         mark.number);
}

void UpdateMark(db::Tx& tx, const Mark& mark) {
  tx.Run(R"sql(
      UPDATE mark SET counted_ms = $2, at = $3, settled_at = $4, away_ms = $5, is_synchronised = $6
      WHERE mark = $1
      )sql",
         mark.number, mark.counted_ms, mark.at, mark.settled_at, mark.away_ms,
         mark.is_synchronised);
}

void DeleteMarksBefore(db::Tx& tx, int64_t mark) {
  tx.Run("DELETE FROM event_mark WHERE mark < $1", mark);
  tx.Run("DELETE FROM mark WHERE mark < $1", mark);
}

std::optional<int64_t> EventAtMark(db::Session& session, db::CompanyId company, int64_t mark) {
  const auto row = session.One(
      "SELECT event_seq FROM event_mark WHERE company_id = $1 AND mark = $2", company, mark);
  if (!row) return std::nullopt;
  return row->Int(0);
}

std::vector<db::CompanyId> Companies(db::Session& session) {
  db::Rows rows = session.Query("SELECT company_id FROM company_counter ORDER BY company_id");
  std::vector<db::CompanyId> companies;
  while (rows.Next()) companies.push_back(rows.Int(0));
  return companies;
}

std::vector<StoredEvent> After(db::Session& session, db::CompanyId company, int64_t seq, int limit,
                               size_t bytes_max) {
  db::Rows rows = session.Query(R"sql(
      SELECT seq, epoch, event_id, type, changes, subject_type, subject_id, subject_version, at,
        body, note, checksum, chain
      FROM event WHERE company_id = $1 AND seq > $2 ORDER BY seq LIMIT $3
      )sql",
                                company, seq, limit);
  std::vector<StoredEvent> events;
  size_t bytes = 0;
  while (rows.Next()) {
    StoredEvent event = ReadEvent(session, company, rows);
    bytes += event.body.size();
    if (bytes > bytes_max && !events.empty()) break;
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace comanda::events::store
