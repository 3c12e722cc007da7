#include "events/store.h"

#include <utility>

#include "base/check.h"
#include "base/problem.h"

namespace comanda::events::store {
namespace {

Counted ReadCounted(const auto& row) {
  Counted counted;
  counted.seq = row.Int("event_seq");
  counted.values.events = counted.seq;
  counted.log_start = row.Int("log_start");
  counted.chain = row.Int("event_chain");
  counted.chain_start = row.Int("chain_start");
  counted.values.epoch = row.Int("epoch");
  counted.values.changes[static_cast<size_t>(Counter::kOrders)] = row.Int("order_changes");
  counted.values.changes[static_cast<size_t>(Counter::kCatalogue)] = row.Int("catalogue_changes");
  counted.values.changes[static_cast<size_t>(Counter::kOther)] = row.Int("other_changes");
  return counted;
}

// Views of the row. Fault kDamaged where a value is of another type.
Content ReadContent(const auto& row) {
  return {.seq = row.Int("seq"),
          .epoch = row.Int("epoch"),
          .event_id = row.View("event_id"),
          .type = row.View("type"),
          .changes = row.View("changes"),
          .subject_type = row.View("subject_type"),
          .subject_id = row.View("subject_id"),
          .subject_version = row.Int("subject_version"),
          .at = row.Int("at"),
          .body = row.View("body"),
          .note = row.View("note")};
}

bool IsSound(db::Session& session, db::CompanyId company, const Content& content,
             std::optional<int64_t> checksum) {
  if (!checksum) return !HasAllChecksums(session, company);
  return *checksum == ChecksumOf(company, content);
}

StoredEvent ReadEvent(db::Session& session, db::CompanyId company, const auto& row) {
  StoredEvent event{.seq = row.Int("seq"), .is_damaged = true};
  try {
    const Content content = ReadContent(row);
    event.checksum = row.OptionalInt("checksum");
    event.chain = row.OptionalInt("chain");
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
  tx.Run(R"sql(INSERT INTO company_counter (company_id, epoch) VALUES ($1, $2))sql", company,
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
  static constexpr db::Sql kSelect = R"sql(
      SELECT event_seq, log_start, event_chain, chain_start, epoch, order_changes,
        catalogue_changes, other_changes
      FROM company_counter WHERE company_id = $1
      )sql";
  const auto row = session.One<kSelect>(company);
  if (!row) return std::nullopt;
  return ReadCounted(*row);
}

std::vector<std::pair<db::CompanyId, Counted>> AllCounters(db::Session& session) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT company_id, event_seq, log_start, event_chain, chain_start, epoch, order_changes,
        catalogue_changes, other_changes
      FROM company_counter ORDER BY company_id
      )sql";
  auto rows = session.Query<kSelect>();
  std::vector<std::pair<db::CompanyId, Counted>> all;
  while (rows.Next()) all.emplace_back(rows.Company("company_id"), ReadCounted(rows));
  return all;
}

int64_t LastSeq(db::Session& session, db::CompanyId company) {
  return session
      .FindInt(R"sql(SELECT event_seq FROM company_counter WHERE company_id = $1)sql", company)
      .value_or(0);
}

bool CountOrder(db::Tx& tx, db::CompanyId company, std::string_view business_day) {
  return tx.Run(R"sql(
      UPDATE company_counter SET order_number = order_number + 1
      WHERE company_id = $1 AND business_day = $2
      )sql",
                company, business_day) > 0;
}

std::optional<int64_t> OrderNumber(db::Session& session, db::CompanyId company) {
  return session.FindInt(R"sql(SELECT order_number FROM company_counter WHERE company_id = $1)sql",
                         company);
}

void SetOrderNumber(db::Tx& tx, db::CompanyId company, std::string_view business_day,
                    int64_t number) {
  tx.Run(R"sql(
      UPDATE company_counter SET business_day = $2, order_number = $3 WHERE company_id = $1
      )sql",
         company, business_day, number);
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
      R"sql(
      UPDATE company_counter SET epoch = epoch + 1, event_seq = 0, log_start = 1,
        records_dropped_to = 0, business_day = '', order_number = 0, event_chain = 0,
        chain_start = 1, checksums_complete = 1 WHERE company_id = $1
      )sql",
      company);
}

void RaiseEpochs(db::Tx& tx, int64_t by) {
  tx.Run(R"sql(UPDATE company_counter SET epoch = epoch + $1)sql", by);
}

void SetLogStart(db::Tx& tx, db::CompanyId company, int64_t seq) {
  tx.Run(R"sql(UPDATE company_counter SET log_start = $2 WHERE company_id = $1)sql", company, seq);
}

std::vector<Time> Times(db::Session& session, db::CompanyId company, int64_t first, int64_t limit) {
  std::vector<Time> times;
  static constexpr db::Sql kSelect = R"sql(
      SELECT seq, at FROM event WHERE company_id = $1 AND seq >= $2 ORDER BY seq LIMIT $3
      )sql";
  auto rows = session.Query<kSelect>(company, first, limit);
  while (rows.Next()) {
    const UtcMs at = OrDefault<UtcMs>(0, [&] { return rows.Int("at"); });
    times.push_back({rows.Int("seq"), at});
  }
  return times;
}

std::optional<UtcMs> TimeOf(db::Session& session, db::CompanyId company, int64_t seq) {
  static constexpr db::Sql kSelect =
      R"sql(SELECT at FROM event WHERE company_id = $1 AND seq = $2)sql";
  const auto row = session.One<kSelect>(company, seq);
  if (!row) return std::nullopt;
  return OrDefault<std::optional<UtcMs>>(std::nullopt, [&] { return row->Int("at"); });
}

std::optional<std::string> RecordAt(db::Session& session, db::CompanyId company, int64_t seq,
                                    std::string_view subject_id, int64_t subject_version) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT seq, epoch, event_id, type, changes, subject_type, subject_id, subject_version, at,
        body, note, checksum
      FROM event WHERE company_id = $1 AND seq = $2
      )sql";
  const auto row = session.One<kSelect>(company, seq);
  if (!row) return std::nullopt;
  return OrDefault<std::optional<std::string>>(std::nullopt, [&]() -> std::optional<std::string> {
    const Content content = ReadContent(*row);
    const bool is_wanted = content.subject_id == subject_id &&
                           content.subject_version == subject_version &&
                           IsSound(session, company, content, row->OptionalInt("checksum"));
    if (!is_wanted) return std::nullopt;
    return std::string(content.body);
  });
}

bool HasAllChecksums(db::Session& session, db::CompanyId company) {
  static constexpr db::Sql kSelect =
      R"sql(SELECT checksums_complete FROM company_counter WHERE company_id = $1)sql";
  const auto row = session.One<kSelect>(company);
  return row && row->Bool("checksums_complete");
}

void SetAllChecksums(db::Tx& tx, db::CompanyId company) {
  tx.Run(R"sql(
      UPDATE company_counter SET checksums_complete = 1 WHERE company_id = $1
      )sql",
         company);
}

void SetChecksum(db::Tx& tx, db::CompanyId company, int64_t seq, int64_t checksum) {
  tx.Run(R"sql(UPDATE event SET checksum = $3 WHERE company_id = $1 AND seq = $2)sql", company, seq,
         checksum);
}

void SetBody(db::Tx& tx, db::CompanyId company, int64_t seq, std::string_view body) {
  tx.Run(R"sql(UPDATE event SET body = $3 WHERE company_id = $1 AND seq = $2)sql", company, seq,
         body);
}

void Delete(db::Tx& tx, db::CompanyId company, int64_t seq) {
  tx.Run(R"sql(DELETE FROM event WHERE company_id = $1 AND seq = $2)sql", company, seq);
}

void DeleteAll(db::Tx& tx, db::CompanyId company) {
  tx.Run(R"sql(DELETE FROM event WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM event_mark WHERE company_id = $1)sql", company);
}

std::vector<Subject> Subjects(db::Session& session, db::CompanyId company, int64_t first,
                              int64_t last, int64_t limit) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT seq, subject_type, subject_id FROM event
      WHERE company_id = $1 AND seq >= $2 AND seq <= $3 ORDER BY seq LIMIT $4
      )sql";
  auto rows = session.Query<kSelect>(company, first, last, limit);
  std::vector<Subject> subjects;
  while (rows.Next()) {
    const int64_t seq = rows.Int("seq");
    subjects.push_back(OrDefault<Subject>({.seq = seq, .type = {}, .id = {}}, [&] {
      return Subject{seq, rows.Text("subject_type"), rows.Text("subject_id")};
    }));
  }
  return subjects;
}

int64_t RecordsDroppedTo(db::Session& session, db::CompanyId company) {
  return session
      .FindInt(R"sql(SELECT records_dropped_to FROM company_counter WHERE company_id = $1)sql",
               company)
      .value_or(0);
}

void SetRecordsDroppedTo(db::Tx& tx, db::CompanyId company, int64_t seq) {
  tx.Run(R"sql(
      UPDATE company_counter SET records_dropped_to = $2 WHERE company_id = $1
      )sql",
         company, seq);
}

std::optional<Mark> LastMark(db::Session& session) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT mark, counted_ms, at, settled_at, away_ms, is_synchronised FROM mark
      ORDER BY mark DESC LIMIT 1
      )sql";
  const auto row = session.One<kSelect>();
  if (!row) return std::nullopt;
  return Mark{.number = row->Int("mark"),
              .counted_ms = row->Int("counted_ms"),
              .at = row->Int("at"),
              .settled_at = row->Int("settled_at"),
              .away_ms = row->Int("away_ms"),
              .is_synchronised = row->Bool("is_synchronised")};
}

std::optional<int64_t> LastMarkBefore(db::Session& session, int64_t counted_ms) {
  return session.FindInt(R"sql(
      SELECT mark FROM mark WHERE counted_ms <= $1 ORDER BY mark DESC LIMIT 1
      )sql",
                         counted_ms);
}

bool AnyMarkOf(db::Session& session, int schema_version, int64_t counted_before_ms) {
  return session.Exists(R"sql(
      SELECT 1 FROM mark WHERE schema_version = $1 AND counted_ms <= $2 LIMIT 1
      )sql",
                        schema_version, counted_before_ms);
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
  tx.Run(R"sql(DELETE FROM event_mark WHERE mark < $1)sql", mark);
  tx.Run(R"sql(DELETE FROM mark WHERE mark < $1)sql", mark);
}

std::optional<int64_t> EventAtMark(db::Session& session, db::CompanyId company, int64_t mark) {
  return session.FindInt(
      R"sql(SELECT event_seq FROM event_mark WHERE company_id = $1 AND mark = $2)sql", company,
      mark);
}

std::vector<db::CompanyId> Companies(db::Session& session) {
  static constexpr db::Sql kSelect =
      R"sql(SELECT company_id FROM company_counter ORDER BY company_id)sql";
  auto rows = session.Query<kSelect>();
  std::vector<db::CompanyId> companies;
  while (rows.Next()) companies.push_back(rows.Company("company_id"));
  return companies;
}

std::vector<StoredEvent> After(db::Session& session, db::CompanyId company, int64_t seq, int limit,
                               size_t bytes_max) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT seq, epoch, event_id, type, changes, subject_type, subject_id, subject_version, at,
        body, note, checksum, chain
      FROM event WHERE company_id = $1 AND seq > $2 ORDER BY seq LIMIT $3
      )sql";
  auto rows = session.Query<kSelect>(company, seq, limit);
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
