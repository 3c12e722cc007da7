#include "integrity/checker.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/problem.h"
#include "company/companies.h"
#include "db/watcher.h"
#include "events/check.h"
#include "events/log.h"
#include "integrity/tables.h"
#include "orders/check.h"

namespace comanda::integrity {
namespace {

using Steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Pauses for each time of work.
constexpr int kIdleShareOfTables = 4;
constexpr int64_t kIdleShareOfRows = 49;
constexpr milliseconds kPauseMax{10};  // less than a checkpoint waits for readers
// For records that requests have found damaged, and for suspicions.
constexpr int64_t kLookEveryMs = 1'000;
constexpr int64_t kEventsAtOnce = 100;
constexpr int64_t kOrdersAtOnce = 50;
// A file so large and so busy that the check of a table never came to its end is checked in spite
// of a log that waits.
constexpr int kGivesWayMax = 20;
constexpr int64_t kGivesWayForMs = 100;
// Before a look at a table is repeated because of what it found.
constexpr int64_t kRepeatedAfterMs[] = {100, 1'000, 5'000};

constexpr std::string_view kIndexOfKey = "sqlite_autoindex_";  // SQLite's own name

// fn(), and what it says is damaged.
template <typename Fn>
void NoteDamage(db::DamagedRows& rows, Fn&& fn) {
  try {
    fn();
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged) throw;
    rows.Note(fault.cause);
  }
}

bool IsAboutPages(const Finding& finding) {
  return finding.kind == Kind::kPage || finding.kind == Kind::kUnread;
}

bool HasPages(const Findings& findings) { return std::ranges::any_of(findings, IsAboutPages); }

}  // namespace

void MendCounters(db::Database& database) {
  std::vector<db::CompanyId> companies;
  const bool sound = database.Read([&](db::Snapshot& snapshot) {
    for (const company::Company& one : company::All(snapshot)) companies.push_back(one.company_id);
    return events::CountersAreSound(snapshot, companies);
  });
  if (sound) return;
  database.Write([&](db::Tx& tx, const db::Stamp&) { events::MendCounters(tx, companies); });
}

bool Checker::MayWrite() const {
  return database_.health().writable && space_.fullness() < db::Fullness::kOrdersOnly;
}

void Checker::CheckBeforeServing(int64_t max_ms) {
  if (database_.IsAlone()) return;  // nothing could be mended
  const Pace pace{.is_full = true, .until_ms = clock_.MonotonicMs() + max_ms};
  try {
    Begin();
    while (round_->next_table < round_->tables.size() && CheckNextTable(pace)) continue;
  } catch (const Over&) {
    log::Info("the rest of the database is checked while it is served",
              {{"file", file_}, {"from_table", round_->tables[round_->next_table]}});
  } catch (const std::exception& error) {  // the worker tries again
    log::Error("the database is not checked", {{"file", file_}, {"why", error.what()}});
  }
}

int64_t Checker::DoPart(const Beat& beat) {
  if (database_.IsAlone()) return kLookEveryMs;
  RemakeRecords();
  is_suspected_ = database_.TakeSuspicion() || is_suspected_;
  if (is_suspected_ && clock_.MonotonicMs() - suspected_ms_ >= kSuspectEveryMs) {
    BringTablesForward();
  }
  if (!round_) {
    if (clock_.MonotonicMs() < due_ms_) return kLookEveryMs;
    Begin();
  }
  const int64_t begun_ms = clock_.MonotonicMs();
  if (round_->next_table < round_->tables.size()) {
    const bool is_urgent = begun_ms - suspected_ms_ < kSuspectEveryMs;
    try {
      CheckNextTable({.is_full = is_urgent, .beat = &beat});
    } catch (const Over&) {
      beat();  // throws
    }
    return 0;
  }
  if (begun_ms < rests_until_ms_) return rests_until_ms_ - begun_ms;
  if (!CheckNextRows(beat)) {
    End();
    return kLookEveryMs;
  }
  const int64_t now_ms = clock_.MonotonicMs();
  rests_until_ms_ = now_ms + std::max<int64_t>(1, (now_ms - begun_ms) * kIdleShareOfRows);
  return rests_until_ms_ - now_ms;
}

void Checker::Begin() {
  round_ = Round{.begun_ms = clock_.MonotonicMs(), .tables = PartsToCheck(database_, clock_)};
}

void Checker::BringTablesForward() {
  log::Warning("a statement met what may be damage: checking all tables", {{"file", file_}});
  is_suspected_ = false;
  suspected_ms_ = clock_.MonotonicMs();
  if (!round_) return Begin();
  round_->next_table = 0;
  round_->of_tables.clear();
}

// Tables.

// False where a page cannot be read before the database is served, which is left to DoPart().
// Throws Over.
bool Checker::CheckNextTable(const Pace& pace) {
  const std::string& table = round_->tables[round_->next_table];
  Findings found = Examine(table, pace);
  std::set<std::string> tried;  // the findings of one index can hide those of another
  while (Reindex(found, table, pace, tried)) found = Examine(table, pace);
  if (HasPages(found)) {
    const bool is_unread =
        std::ranges::none_of(found, [](const Finding& one) { return one.kind == Kind::kPage; });
    if (is_unread && !pace.beat) return false;
    std::string why;
    for (const Finding& one : found) {
      if (IsAboutPages(one)) why += one.what + "\n";
    }
    database_.RefuseWrites(why, is_unread);
  }
  for (Finding& one : found) {
    if (IsAboutPages(one)) continue;
    if (one.kind == Kind::kIndex && one.where != table)
      one.what = "the index " + one.where + " disagrees with its table";
    database_.damaged_rows().Note(one.what);
    round_->of_tables.push_back(std::move(one));
  }
  ++round_->next_table;
  return true;
}

// What is found again and again, each time on a new connection: a read that failed once is no
// damage. A malformed page has consequences that last, and is looked at for some seconds.
Findings Checker::Examine(const std::string& table, const Pace& pace) {
  int gave_way = 0;
  size_t looks = 0;
  while (true) {
    if (IsOver(pace)) throw Over();
    const std::optional<Findings> found = Look(table, pace, gave_way < kGivesWayMax);
    if (!found) {
      ++gave_way;
      Wait(pace, kGivesWayForMs);
      continue;
    }
    const size_t looks_max = HasPages(*found) && pace.beat ? std::size(kRepeatedAfterMs) + 1 : 2;
    if (found->empty() || ++looks >= looks_max) return *found;
    if (pace.beat) Wait(pace, kRepeatedAfterMs[looks - 1]);
  }
}

// Nothing where it gave way to a log that waits.
std::optional<Findings> Checker::Look(const std::string& table, const Pace& pace, bool gives_way) {
  bool is_over = false;
  bool has_given_way = false;
  Steady::time_point worked_from = Steady::now();
  const auto ends = [&] {
    is_over = is_over || IsOver(pace);
    has_given_way = has_given_way || (gives_way && database_.log_waits());
    if (is_over || has_given_way) return true;
    if (pace.is_full) return false;
    const auto worked = Steady::now() - worked_from;
    std::this_thread::sleep_for(std::min<Steady::duration>(worked * kIdleShareOfTables, kPauseMax));
    worked_from = Steady::now();
    return false;
  };
  try {
    Findings found = CheckTable(database_, clock_, table, ends);
    if (!is_over && !has_given_way) return found;
  } catch (const Fault&) {
    if (!is_over && !has_given_way) throw;
  }
  if (is_over) throw Over();
  return std::nullopt;
}

// True where an index was made again that is wrong: the table is to be looked at again.
bool Checker::Reindex(const Findings& found, const std::string& table, const Pace& pace,
                      std::set<std::string>& tried) {
  std::set<std::string> indexes;
  for (const Finding& one : found) {
    if (one.kind == Kind::kIndex) indexes.insert(one.where);
  }
  if (indexes.empty() || HasPages(found) || !database_.health().writable) return false;
  // An order whose id is damaged disagrees with every index, that of the primary key included, and
  // is read by the id that this one has. Where it is the only one, it is wrong itself.
  const bool has_key = std::ranges::any_of(
      indexes, [](const std::string& index) { return index.starts_with(kIndexOfKey); });
  if (table == "orders" && (has_key ? indexes.size() > 1 : !OrdersAreSound(pace))) return false;
  bool is_tried = false;
  for (const std::string& index : indexes) {
    if (!tried.insert(index).second) continue;
    database_.Reindex(index);
    is_tried = true;
  }
  if (!is_tried) return false;
  try {
    database_.Write([](db::Tx&, const db::Stamp&) {});  // what Reindex() comes before
  } catch (const Fault&) {  // a full disk, or one that takes no more writes: it is said elsewhere
    return false;
  }
  return true;
}

// Where they cannot be read, it is for an index, of which nothing more can be lost.
bool Checker::OrdersAreSound(const Pace& pace) try {
  const auto watcher = database_.Watch();
  for (const db::CompanyId company : watcher->Read(events::CompaniesWithEvents)) {
    orders::OrdersPart part;
    while (!part.at_end) {
      if (IsOver(pace)) throw Over();
      part = watcher->Read([&](db::Snapshot& snapshot) {
        return orders::CheckOrders(snapshot, company, part.position, kOrdersAtOnce);
      });
      if (part.has_damaged_rows) return false;
    }
  }
  return true;
} catch (const Fault& fault) {
  if (fault.kind != Fault::Kind::kInternal) throw;
  return true;
}

bool Checker::IsOver(const Pace& pace) const {
  if (!pace.beat) return clock_.MonotonicMs() >= pace.until_ms;
  try {
    (*pace.beat)();
  } catch (...) {  // it is called again, outside of SQLite
    return true;
  }
  return false;
}

void Checker::Wait(const Pace& pace, int64_t ms) const {
  const auto until = Steady::now() + milliseconds(ms);
  while (Steady::now() < until) {
    if (IsOver(pace)) throw Over();
    std::this_thread::sleep_for(kPauseMax);
  }
}

// Rows.

// False behind the last ones.
bool Checker::CheckNextRows(const Beat& beat) {
  if (!round_->watcher) {
    NoteDamage(database_.damaged_rows(), [&] {
      if (MayWrite()) MendCounters(database_);
    });
    round_->watcher = database_.Watch();
  }
  if (!round_->watcher->IsUsable()) round_->watcher = database_.Watch();
  Verification::Part part;
  const bool goes_on = round_->watcher->Read(
      [&](db::Snapshot& snapshot) { return round_->rows.Next(snapshot, part); });
  database_.damaged_rows().SetProgress(round_->rows.report().orders, round_->rows.orders_in_all());
  if (!goes_on) return false;
  for (const std::string& id : part.damaged_records) {
    database_.damaged_rows().NoteRecord({part.company, id});
  }
  Complete(part, beat);
  return true;
}

void Checker::End() {
  const Verification::Report& report = round_->rows.report();
  std::vector<std::string> damage = SentencesOf(round_->of_tables);
  for (std::string& one : SentencesOf(report.damage)) {
    const bool is_remade = std::ranges::find(round_->remade, one) != round_->remade.end();
    if (!is_remade) damage.push_back(std::move(one));
  }
  database_.damaged_rows().Replace(damage);
  database_.damaged_rows().SetChecked(clock_.Now());
  log::Info("the database was checked: pages, indexes, orders and events",
            {{"file", file_},
             {"orders", report.orders},
             {"events", report.events},
             {"damaged", database_.damaged_rows().count()},
             {"seconds", (clock_.MonotonicMs() - round_->begun_ms) / 1000}});
  round_.reset();
  ++rounds_;
  due_ms_ = clock_.MonotonicMs() + kEveryMs;
}

void Checker::RemakeRecords() {
  if (!MayWrite()) return;
  db::DamagedRows& rows = database_.damaged_rows();
  for (const db::DamagedRows::Record& record : rows.TakeRecords()) {
    NoteDamage(rows, [&] {
      database_.Write([&](db::Tx& tx, const db::Stamp&) {
        orders::RemakeRecord(tx, record.company, record.order_id);
      });
      if (round_) round_->remade.push_back(orders::DamagedRecord(record.order_id));
    });
  }
}

// What an older program wrote gets checksums; when all of a company has them, a missing one is
// damage.
void Checker::Complete(const Verification::Part& part, const Beat& beat) {
  if (!part.without_checksum.empty()) {
    round_->completes = round_->completes && MayWrite();
    if (!round_->completes) return;
    database_.Write([&](db::Tx& tx, const db::Stamp&) {
      for (const std::string& id : part.without_checksum) {
        NoteDamage(database_.damaged_rows(), [&] { orders::GiveChecksum(tx, part.company, id); });
      }
    });
  }
  if (!part.was_last_of_orders || !round_->completes || !MayWrite()) return;
  const bool has_all = round_->watcher->Read(
      [&](db::Snapshot& snapshot) { return events::HasAllChecksums(snapshot, part.company); });
  if (has_all) return;
  std::optional<int64_t> last = 0;
  while (last) {
    beat();
    last = database_.Write([&](db::Tx& tx, const db::Stamp&) {
      return events::GiveChecksums(tx, part.company, *last, kEventsAtOnce);
    });
  }
  database_.Write([&](db::Tx& tx, const db::Stamp&) { events::SetAllChecksums(tx, part.company); });
}

}  // namespace comanda::integrity
