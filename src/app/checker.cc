#include "app/checker.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/problem.h"
#include "company/companies.h"
#include "db/watcher.h"
#include "events/check.h"
#include "events/log.h"
#include "orders/check.h"

namespace comanda::app {
namespace {

constexpr int64_t kIdleShare = 49;  // pauses for each time of work: a fiftieth of a core
// For records that requests have found damaged, and for the end of an inspection.
constexpr int64_t kLookEveryMs = 5'000;
constexpr int64_t kEventsAtOnce = 100;

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

int64_t Checker::DoPart(events::Worker::Pass& pass) {
  if (database_.IsAlone()) return kLookEveryMs;
  const int64_t begun_ms = clock_.MonotonicMs();
  RemakeRecords();
  if (!round_) {
    if (database_.rounds_of_inspection() == rounds_) return kLookEveryMs;
    Begin();
  }
  Verification::Part part;
  const bool goes_on =
      watcher_->Read([&](db::Snapshot& snapshot) { return round_->Next(snapshot, part); });
  database_.damaged_rows().SetProgress(round_->report().orders, round_->orders_in_all());
  if (!goes_on) {
    End();
    return kLookEveryMs;
  }
  for (const std::string& id : part.damaged_records) {
    database_.damaged_rows().NoteRecord({part.company, id});
  }
  Complete(part, pass);
  return std::max<int64_t>(1, (clock_.MonotonicMs() - begun_ms) * kIdleShare);
}

void Checker::Begin() {
  NoteDamage(database_.damaged_rows(), [&] {
    if (MayWrite()) MendCounters(database_);
  });
  // Where opening fails the worker waits, and begins again.
  watcher_ = database_.Watch();
  begun_ms_ = clock_.MonotonicMs();
  round_.emplace();
  remade_.clear();
  completes_ = true;
  rounds_ = database_.rounds_of_inspection();
}

void Checker::End() {
  const Verification::Report& report = round_->report();
  std::vector<std::string> damage = report.damage;
  std::erase_if(damage, [&](const std::string& one) {
    return std::ranges::find(remade_, one) != remade_.end();
  });
  database_.damaged_rows().Replace(damage);
  database_.damaged_rows().SetChecked(clock_.Now());
  log::Info("the database was checked: pages, indexes, orders and events",
            {{"file", file_},
             {"orders", report.orders},
             {"events", report.events},
             {"damaged", database_.damaged_rows().count()},
             {"seconds_for_rows", (clock_.MonotonicMs() - begun_ms_) / 1000}});
  round_.reset();
  watcher_.reset();
}

void Checker::RemakeRecords() {
  if (!MayWrite()) return;
  db::DamagedRows& rows = database_.damaged_rows();
  for (const db::DamagedRows::Record& record : rows.TakeRecords()) {
    NoteDamage(rows, [&] {
      database_.Write([&](db::Tx& tx, const db::Stamp&) {
        orders::RemakeRecord(tx, record.company, record.order_id);
      });
      remade_.push_back(orders::DamagedRecord(record.order_id));
    });
  }
}

// What an older program wrote gets checksums; when all of a company has them, a missing one is
// damage.
void Checker::Complete(const Verification::Part& part, events::Worker::Pass& pass) {
  if (!part.without_checksum.empty()) {
    completes_ = completes_ && MayWrite();
    if (!completes_) return;
    database_.Write([&](db::Tx& tx, const db::Stamp&) {
      for (const std::string& id : part.without_checksum) {
        NoteDamage(database_.damaged_rows(), [&] { orders::GiveChecksum(tx, part.company, id); });
      }
    });
  }
  if (!part.was_last_of_orders || !completes_ || !MayWrite()) return;
  const bool has_all = watcher_->Read(
      [&](db::Snapshot& snapshot) { return events::HasAllChecksums(snapshot, part.company); });
  if (has_all) return;
  std::optional<int64_t> last = 0;
  while (last) {
    pass.Beat();
    last = database_.Write([&](db::Tx& tx, const db::Stamp&) {
      return events::GiveChecksums(tx, part.company, *last, kEventsAtOnce);
    });
  }
  database_.Write([&](db::Tx& tx, const db::Stamp&) { events::SetAllChecksums(tx, part.company); });
}

}  // namespace comanda::app
