#include "events/store.h"

#include <algorithm>
#include <utility>

#include "base/checksum.h"
#include "base/log.h"
#include "base/problem.h"
#include "events/row.h"

namespace comanda::events::store {
namespace {

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

int64_t SumOf(db::CompanyId company, const Counted& counted) {
  Checksum sum;
  sum.Add(company.value).Add(counted.seq).Add(counted.log_start).Add(counted.chain);
  sum.Add(counted.chain_start).Add(int64_t{counted.has_all_checksums}).Add(counted.values.epoch);
  // Counters that came later are not part of a sum that was made before they counted anything.
  constexpr size_t kFirst = static_cast<size_t>(Counter::kKitchen);
  const auto& changes = counted.values.changes;
  for (size_t i = 0; i < kFirst; ++i) sum.Add(changes[i]);
  if (changes[kFirst] != 0) sum.Add(changes[kFirst]);
  return sum.Value();
}

int64_t SumOf(db::CompanyId company, const LastOrder& last) {
  return Checksum().Add(company.value).Add(last.business_day).Add(last.number).Value();
}

// Nothing where the values are not what was written.
std::optional<LastOrder> ReadLastOrder(const auto& row) {
  return OrDefault<std::optional<LastOrder>>(std::nullopt, [&]() -> std::optional<LastOrder> {
    LastOrder last{.business_day = row.Text("business_day"), .number = row.Int("order_number")};
    const std::optional<int64_t> checksum = row.OptionalInt("number_checksum");
    if (checksum && *checksum != SumOf(row.Company("company_id"), last)) return std::nullopt;
    return last;
  });
}

// Fault kDamaged where the row is not what was written.
Counted ReadCounted(const auto& row) {
  Counted counted;
  counted.seq = row.Int("event_seq");
  counted.values.events = counted.seq;
  counted.log_start = row.Int("log_start");
  counted.chain = row.Int("event_chain");
  counted.chain_start = row.Int("chain_start");
  counted.has_all_checksums = row.Bool("checksums_complete");
  counted.values.epoch = row.Int("epoch");
  counted.values.changes[static_cast<size_t>(Counter::kOrders)] = row.Int("order_changes");
  counted.values.changes[static_cast<size_t>(Counter::kCatalogue)] = row.Int("catalogue_changes");
  counted.values.changes[static_cast<size_t>(Counter::kOther)] = row.Int("other_changes");
  counted.values.changes[static_cast<size_t>(Counter::kKitchen)] = row.Int("kitchen_changes");
  const db::CompanyId company = row.Company("company_id");
  const std::optional<int64_t> checksum = row.OptionalInt("checksum");
  if (checksum && *checksum != SumOf(company, counted)) {
    throw Fault(Fault::Kind::kDamaged, "the counters of company " + std::to_string(company.value) +
                                           " are not what was written");
  }
  counted.last_order = ReadLastOrder(row);
  return counted;
}

// The last number that an event of the company has had, as the rows of the log and the marks know.
int64_t LastKnownEvent(db::Session& session, db::CompanyId company) {
  const int64_t kept = session.GetInt(
      R"sql(SELECT coalesce(max(seq), 0) FROM event WHERE company_id = $1)sql", company);
  const int64_t marked = session.GetInt(
      R"sql(SELECT coalesce(max(event_seq), 0) FROM event_mark WHERE company_id = $1)sql", company);
  return std::max(kept, marked);
}

// Where the rows begin that end with that number and have no gap; the next number where that row is
// missing.
int64_t BeginOfLog(db::Session& session, db::CompanyId company, int64_t last) {
  return session.GetInt(R"sql(
      SELECT coalesce(max(e.seq), $2 + 1) FROM event AS e
      WHERE e.company_id = $1
        AND EXISTS (SELECT 1 FROM event AS l WHERE l.company_id = $1 AND l.seq = $2)
        AND NOT EXISTS (SELECT 1 FROM event AS p WHERE p.company_id = $1 AND p.seq = e.seq - 1)
      )sql",
                        company, last);
}

std::optional<LastOrder> LastOrderOf(db::Session& session, db::CompanyId company) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT company_id, business_day, order_number, number_checksum FROM company_counter
      WHERE company_id = $1
      )sql";
  const auto row = session.One<kSelect>(company);
  return row ? ReadLastOrder(*row) : LastOrder();
}

// The epoch is another than before, so that nothing that clients keep is taken for current. The
// chain begins with the next event.
Counted MadeAgain(db::Tx& tx, db::CompanyId company) {
  Counted counted;
  counted.seq = LastKnownEvent(tx, company);
  counted.log_start = BeginOfLog(tx, company, counted.seq);
  counted.chain_start = counted.seq + 1;
  counted.values.events = counted.seq;
  counted.values.changes.fill(counted.seq);
  const std::vector<StoredEvent> last = After(tx, company, counted.seq - 1, 1);
  counted.values.epoch = tx.counters().first_epoch();
  if (!last.empty() && !last.front().is_damaged) counted.values.epoch += last.front().epoch;
  Save(tx, company, counted);
  counted.last_order = LastOrderOf(tx, company);
  tx.OnCommit([&counters = tx.counters(), company, values = counted.values] {
    counters.Publish(company, values);
  });
  log::Error(
      "the counters of a company are damaged, and rebuilt from its events: stored cursors and "
      "versions of clients are refused once",
      {{"company", company.value}, {"last_event", counted.seq}, {"epoch", counted.values.epoch}});
  return counted;
}

StoredEvent ReadEvent(db::Session& session, db::CompanyId company, const auto& row) {
  StoredEvent event{.seq = row.Int("seq"), .is_damaged = true};
  try {
    const Content content = ReadContent(row);
    event.checksum = row.OptionalInt("checksum");
    event.chain = row.OptionalInt("chain");
    event.is_damaged = !events::IsSound(session, company, content, event.checksum);
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

// Whether so much counted time can have passed between two marks, the second given first. They are
// made every hour; between two processes as much is counted as the wall clock says, at most. Where
// the second is damaged, time goes on from the first: it may lag behind, and never leads.
constexpr int64_t kSlackMs = 2 * 3'600'000LL;
bool CanFollow(const Mark& mark, const Mark& former) {
  const int64_t counted_ms = mark.counted_ms - former.counted_ms;
  return counted_ms <= kSlackMs || counted_ms - kSlackMs <= mark.at - former.at;
}

// Whether the wall clock has gone on between two marks as counted time has, at least: else it was
// put back or is damaged, and says nothing about the time off after the first.
bool AgreesWithWall(const Mark& mark, const Mark& former) {
  return mark.at - former.at >= mark.counted_ms - former.counted_ms - kSlackMs;
}

}  // namespace

Counted CountersOrNew(db::Tx& tx, db::CompanyId company) {
  try {
    if (const std::optional<Counted> counted = Counters(tx, company)) return *counted;
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged) throw;
    return MadeAgain(tx, company);
  }
  tx.Run(R"sql(INSERT INTO company_counter (company_id, epoch) VALUES ($1, $2))sql", company,
         tx.counters().first_epoch());
  if (LastKnownEvent(tx, company) > 0) return MadeAgain(tx, company);
  return {.has_all_checksums = true, .values = {.epoch = tx.counters().first_epoch()}};
}

void Save(db::Tx& tx, db::CompanyId company, const Counted& counted,
          const std::optional<LastOrder>& new_order) {
  std::optional<std::string_view> business_day;
  std::optional<int64_t> number, number_checksum;
  if (new_order) {
    business_day = new_order->business_day;
    number = new_order->number;
    number_checksum = SumOf(company, *new_order);
  }
  const auto& changes = counted.values.changes;
  tx.RunOne(R"sql(
      UPDATE company_counter SET event_seq = $2, log_start = $3, event_chain = $4, chain_start = $5,
        checksums_complete = $6, epoch = $7, order_changes = $8, catalogue_changes = $9,
        other_changes = $10, checksum = $11, business_day = coalesce($12, business_day),
        order_number = coalesce($13, order_number),
        number_checksum = coalesce($14, number_checksum), kitchen_changes = $15
      WHERE company_id = $1
      )sql",
            company, counted.seq, counted.log_start, counted.chain, counted.chain_start,
            counted.has_all_checksums, counted.values.epoch,
            changes[static_cast<size_t>(Counter::kOrders)],
            changes[static_cast<size_t>(Counter::kCatalogue)],
            changes[static_cast<size_t>(Counter::kOther)], SumOf(company, counted), business_day,
            number, number_checksum, changes[static_cast<size_t>(Counter::kKitchen)]);
}

std::optional<Counted> Counters(db::Session& session, db::CompanyId company) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT company_id, event_seq, log_start, event_chain, chain_start, checksums_complete, epoch,
        order_changes, catalogue_changes, other_changes, kitchen_changes, checksum, business_day,
        order_number, number_checksum
      FROM company_counter WHERE company_id = $1
      )sql";
  const auto row = session.One<kSelect>(company);
  if (!row) return std::nullopt;
  return ReadCounted(*row);
}

std::vector<std::pair<db::CompanyId, Counted>> AllCounters(db::Session& session) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT company_id, event_seq, log_start, event_chain, chain_start, checksums_complete, epoch,
        order_changes, catalogue_changes, other_changes, kitchen_changes, checksum, business_day,
        order_number, number_checksum
      FROM company_counter ORDER BY company_id
      )sql";
  auto rows = session.Query<kSelect>();
  std::vector<std::pair<db::CompanyId, Counted>> all;
  while (rows.Next()) all.emplace_back(rows.Company("company_id"), ReadCounted(rows));
  return all;
}

bool IsSound(db::Session& session, db::CompanyId company) {
  try {
    return Counters(session, company).has_value() || LastKnownEvent(session, company) == 0;
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged) throw;
    return false;
  }
}

void DeleteStrayCounters(db::Tx& tx, const std::vector<db::CompanyId>& companies) {
  for (const db::CompanyId company : Companies(tx)) {
    if (std::ranges::find(companies, company) != companies.end() || IsSound(tx, company)) continue;
    tx.Run(R"sql(DELETE FROM company_counter WHERE company_id = $1)sql", company);
  }
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
  const Counted former = CountersOrNew(tx, company);
  Counted counted{.has_all_checksums = true, .values = former.values};
  ++counted.values.epoch;
  counted.values.events = 0;
  Save(tx, company, counted);
  tx.RunOne(
      R"sql(
      UPDATE company_counter SET records_dropped_to = 0, business_day = '', order_number = 0,
        number_checksum = NULL
      WHERE company_id = $1
      )sql",
      company);
}

void RaiseEpochs(db::Tx& tx, int64_t by) {
  for (const db::CompanyId company : Companies(tx)) {
    Counted counted = CountersOrNew(tx, company);
    counted.values.epoch += by;
    Save(tx, company, counted);
  }
}

void SetLogStart(db::Tx& tx, db::CompanyId company, int64_t seq) {
  Counted counted = CountersOrNew(tx, company);
  counted.log_start = seq;
  Save(tx, company, counted);
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

bool UseRecordAt(db::Session& session, db::CompanyId company, int64_t seq,
                 std::string_view subject_id, int64_t subject_version,
                 const std::function<void(std::string_view body)>& use) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT seq, epoch, event_id, type, changes, subject_type, subject_id, subject_version, at,
        body, note, checksum
      FROM event WHERE company_id = $1 AND seq = $2
      )sql";
  const auto row = session.One<kSelect>(company, seq);
  if (!row) return false;
  const auto body = FindBody(session, company, *row, subject_id, subject_version);
  if (body) use(*body);
  return body.has_value();
}

bool HasAllChecksums(db::Session& session, db::CompanyId company) {
  static constexpr db::Sql kSelect =
      R"sql(SELECT checksums_complete FROM company_counter WHERE company_id = $1)sql";
  const auto row = session.One<kSelect>(company);
  return row && row->Bool("checksums_complete");
}

void SetAllChecksums(db::Tx& tx, db::CompanyId company) {
  Counted counted = CountersOrNew(tx, company);
  counted.has_all_checksums = true;
  Save(tx, company, counted);
}

void SetChecksum(db::Tx& tx, db::CompanyId company, int64_t seq, int64_t checksum) {
  tx.RunOne(R"sql(UPDATE event SET checksum = $3 WHERE company_id = $1 AND seq = $2)sql", company,
            seq, checksum);
}

void SetBody(db::Tx& tx, db::CompanyId company, int64_t seq, std::string_view body) {
  tx.RunOne(R"sql(UPDATE event SET body = $3 WHERE company_id = $1 AND seq = $2)sql", company, seq,
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
  tx.RunOne(R"sql(
      UPDATE company_counter SET records_dropped_to = $2 WHERE company_id = $1
      )sql",
            company, seq);
}

std::optional<Mark> LastMark(db::Session& session) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT mark, counted_ms, at, settled_at, away_ms, is_synchronised FROM mark
      ORDER BY mark DESC
      )sql";
  auto rows = session.Query<kSelect>();
  std::optional<int64_t> last;
  std::optional<Mark> later;
  while (rows.Next()) {
    if (!last) last = rows.Int("mark");
    const auto mark = OrDefault<std::optional<Mark>>(std::nullopt, [&]() -> std::optional<Mark> {
      return Mark{.number = *last,
                  .counted_ms = rows.Int("counted_ms"),
                  .at = rows.Int("at"),
                  .settled_at = rows.Int("settled_at"),
                  .away_ms = rows.Int("away_ms"),
                  .is_synchronised = rows.Bool("is_synchronised") && rows.Int("mark") == *last};
    });
    if (!mark) continue;
    if (later && CanFollow(*later, *mark)) {
      later->is_synchronised = later->is_synchronised && AgreesWithWall(*later, *mark);
      return later;
    }
    later = mark;
  }
  if (later || !last) return later;
  return Mark{.number = *last};
}

std::optional<int64_t> LastMarkBefore(db::Session& session, int64_t counted_ms) {
  // Behind it all are later: so a damaged time makes no young mark an old one.
  static constexpr db::Sql kSelect = R"sql(
      SELECT max(m.mark) AS mark FROM mark AS m
      WHERE m.mark < coalesce((SELECT min(l.mark) FROM mark AS l WHERE l.counted_ms > $1), m.mark + 1)
      )sql";
  return session.One<kSelect>(counted_ms)->OptionalInt("mark");
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

void CountTimeOff(db::Tx& tx, const Mark& former, int64_t off_ms) {
  tx.Run(R"sql(
      UPDATE mark SET counted_ms = counted_ms + $2, at = $3 + counted_ms + $2 - $4 WHERE mark > $1
      )sql",
         former.number, off_ms, former.at, former.counted_ms);
}

void DeleteMarksBefore(db::Tx& tx, int64_t mark) {
  tx.Run(R"sql(DELETE FROM event_mark WHERE mark < $1)sql", mark);
  tx.Run(R"sql(DELETE FROM mark WHERE mark < $1)sql", mark);
}

std::optional<int64_t> EventAtMark(db::Session& session, db::CompanyId company, int64_t mark) {
  if (!session.Exists(R"sql(SELECT 1 FROM event_mark WHERE company_id = $1 AND mark = $2)sql",
                      company, mark)) {
    return std::nullopt;
  }
  // Later marks have no smaller number: so a damaged one makes no young event an old one.
  return session.GetInt(
      R"sql(SELECT min(event_seq) FROM event_mark WHERE company_id = $1 AND mark >= $2)sql",
      company, mark);
}

std::vector<db::CompanyId> Companies(db::Session& session) {
  static constexpr db::Sql kSelect =
      R"sql(SELECT company_id FROM company_counter ORDER BY company_id)sql";
  auto rows = session.Query<kSelect>();
  std::vector<db::CompanyId> companies;
  while (rows.Next()) companies.push_back(rows.Company("company_id"));
  return companies;
}

void ForEachHead(db::Session& session, db::CompanyId company, int64_t after, int64_t last,
                 const std::function<void(const EventHead&)>& use) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT seq, type, changes, at FROM event
      WHERE company_id = $1 AND seq > $2 AND seq <= $3 ORDER BY seq
      )sql";
  auto rows = session.Query<kSelect>(company, after, last);
  while (rows.Next()) {
    use({rows.Int("seq"), rows.View("type"), rows.View("changes"), rows.Int("at")});
  }
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
