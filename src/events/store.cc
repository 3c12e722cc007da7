#include "events/store.h"

#include <utility>

#include "base/check.h"

namespace comanda::events::store {
namespace {

// Columns: event_seq, log_start, epoch, order_changes, catalogue_changes, other_changes, from
// `first` on.
Counted ReadCounted(const db::Rows& row, int first = 0) {
  Counted counted;
  counted.seq = row.Int(first);
  counted.log_start = row.Int(first + 1);
  counted.values.epoch = row.Int(first + 2);
  counted.values.changes[static_cast<size_t>(Counter::kOrders)] = row.Int(first + 3);
  counted.values.changes[static_cast<size_t>(Counter::kCatalogue)] = row.Int(first + 4);
  counted.values.changes[static_cast<size_t>(Counter::kOther)] = row.Int(first + 5);
  return counted;
}

}  // namespace

// Two statements: RETURNING would cost more than both.
Counted Raise(db::Tx& tx, db::CompanyId company, int64_t events, Counter counter) {
  tx.Run(R"sql(
      INSERT INTO company_counter (company_id, event_seq, order_changes, catalogue_changes,
        other_changes)
      VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (company_id) DO UPDATE SET
        event_seq = company_counter.event_seq + excluded.event_seq,
        order_changes = company_counter.order_changes + excluded.order_changes,
        catalogue_changes = company_counter.catalogue_changes + excluded.catalogue_changes,
        other_changes = company_counter.other_changes + excluded.other_changes
      )sql",
         company, events, counter == Counter::kOrders, counter == Counter::kCatalogue,
         counter == Counter::kOther);
  const std::optional<Counted> counted = Counters(tx, company);
  CHECK(counted.has_value(), "an upsert leaves its row");
  return *counted;
}

std::optional<Counted> Counters(db::Session& session, db::CompanyId company) {
  const auto row = session.One(R"sql(
      SELECT event_seq, log_start, epoch, order_changes, catalogue_changes, other_changes
      FROM company_counter WHERE company_id = $1
      )sql",
                               company);
  if (!row) return std::nullopt;
  return ReadCounted(*row);
}

std::vector<std::pair<db::CompanyId, Counted>> AllCounters(db::Session& session) {
  db::Rows rows = session.Query(R"sql(
      SELECT company_id, event_seq, log_start, epoch, order_changes, catalogue_changes,
        other_changes
      FROM company_counter ORDER BY company_id
      )sql");
  std::vector<std::pair<db::CompanyId, Counted>> all;
  while (rows.Next()) all.emplace_back(rows.Int(0), ReadCounted(rows, 1));
  return all;
}

void Insert(db::Tx& tx, db::CompanyId company, const StoredEvent& event) {
  tx.Run(
      "INSERT INTO event (company_id, seq, epoch, event_id, type, changes, subject_type, "
      "subject_id, subject_version, at, body, note) "
      "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
      company, event.seq, event.epoch, event.event_id, event.type, event.changes,
      event.subject_type, event.subject_id, event.subject_version, event.at, event.body,
      event.note);
}

void CountAnew(db::Tx& tx, db::CompanyId company) {
  tx.Run(
      "UPDATE company_counter SET epoch = epoch + 1, event_seq = 0, log_start = 1, "
      "records_dropped_to = 0, business_day = '', order_number = 0 WHERE company_id = $1",
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
  while (rows.Next()) times.push_back({rows.Int(0), rows.Int(1)});
  return times;
}

std::optional<UtcMs> TimeOf(db::Session& session, db::CompanyId company, int64_t seq) {
  const auto row =
      session.One("SELECT at FROM event WHERE company_id = $1 AND seq = $2", company, seq);
  if (!row) return std::nullopt;
  return row->Int(0);
}

std::optional<std::string> BodyOf(db::Session& session, db::CompanyId company, int64_t seq) {
  const auto row =
      session.One("SELECT body FROM event WHERE company_id = $1 AND seq = $2", company, seq);
  if (!row) return std::nullopt;
  return row->Text(0);
}

void Delete(db::Tx& tx, db::CompanyId company, int64_t seq) {
  tx.Run("DELETE FROM event WHERE company_id = $1 AND seq = $2", company, seq);
}

void DeleteAll(db::Tx& tx, db::CompanyId company) {
  tx.Run("DELETE FROM event WHERE company_id = $1", company);
}

std::vector<Subject> Subjects(db::Session& session, db::CompanyId company, int64_t first,
                              int64_t last, int64_t limit) {
  db::Rows rows = session.Query(R"sql(
      SELECT seq, subject_type, subject_id FROM event
      WHERE company_id = $1 AND seq >= $2 AND seq <= $3 ORDER BY seq LIMIT $4
      )sql",
                                company, first, last, limit);
  std::vector<Subject> subjects;
  while (rows.Next()) subjects.push_back({rows.Int(0), rows.Text(1), rows.Text(2)});
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

std::vector<db::CompanyId> Companies(db::Session& session) {
  db::Rows rows = session.Query("SELECT company_id FROM company_counter ORDER BY company_id");
  std::vector<db::CompanyId> companies;
  while (rows.Next()) companies.push_back(rows.Int(0));
  return companies;
}

std::vector<StoredEvent> After(db::Session& session, db::CompanyId company, int64_t seq,
                               int limit) {
  db::Rows rows = session.Query(
      "SELECT seq, epoch, event_id, type, changes, subject_type, subject_id, subject_version, at, "
      "body, note FROM event WHERE company_id = $1 AND seq > $2 ORDER BY seq LIMIT $3",
      company, seq, limit);
  std::vector<StoredEvent> events;
  while (rows.Next()) {
    events.push_back({.seq = rows.Int(0),
                      .epoch = rows.Int(1),
                      .event_id = rows.Text(2),
                      .type = rows.Text(3),
                      .changes = rows.Text(4),
                      .subject_type = rows.Text(5),
                      .subject_id = rows.Text(6),
                      .subject_version = rows.Int(7),
                      .at = rows.Int(8),
                      .body = rows.Text(9),
                      .note = rows.Text(10)});
  }
  return events;
}

}  // namespace comanda::events::store
