#include "events/log.h"

#include <algorithm>
#include <utility>

#include "base/id.h"
#include "events/cursor.h"
#include "events/store.h"

namespace comanda::events {
namespace {

std::string Names(Changes changes) {
  std::string names;
  for (size_t i = 0; i < kChangeNames.size(); ++i) {
    if (!changes.Has(static_cast<Change>(i))) continue;
    if (!names.empty()) names += ',';
    names += kChangeNames[i];
  }
  return names;
}

store::Counted RaiseAndPublish(db::Tx& tx, db::CompanyId company, int64_t events, Counter counter) {
  const store::Counted counted = store::Raise(tx, company, events, counter);
  tx.OnCommit([&counters = tx.counters(), company, values = counted.values] {
    counters.Publish(company, values);
  });
  return counted;
}

}  // namespace

Appended Append(db::Tx& tx, db::CompanyId company, const db::Stamp& stamp, const Event& event) {
  const TypeRow& type = Row(event.type);
  const store::Counted counted = RaiseAndPublish(tx, company, 1, type.counter);
  const int64_t epoch = counted.values.epoch;
  const std::string number = std::to_string(epoch) + ':' + std::to_string(counted.seq);
  store::Insert(tx, company,
                {.seq = counted.seq,
                 .epoch = epoch,
                 .event_id = DerivedId(event.company_id, number),
                 .type = std::string(type.name),
                 .changes = Names(event.changes),
                 .subject_type = std::string(type.subject),
                 .subject_id = std::string(event.subject_id),
                 .subject_version = event.subject_version,
                 .at = stamp.now,
                 .body = std::string(event.body),
                 .note = std::string(event.note)});
  return {counted.seq, counted.log_start};
}

std::optional<std::string> BodyOf(db::Session& session, db::CompanyId company, int64_t seq) {
  return store::BodyOf(session, company, seq);
}

void DropRecord(db::Tx& tx, db::CompanyId company, int64_t seq) { store::Delete(tx, company, seq); }

void RaiseCounter(db::Tx& tx, db::CompanyId company, Counter counter) {
  RaiseAndPublish(tx, company, 0, counter);
}

std::vector<StoredEvent> ReadAfter(db::Session& session, db::CompanyId company, int64_t seq,
                                   int limit) {
  return store::After(session, company, seq, limit);
}

Extent ExtentOf(db::Session& session, db::CompanyId company) {
  const std::optional<store::Counted> counted = store::Counters(session, company);
  if (!counted) return {};
  return {.epoch = counted->values.epoch, .oldest = counted->log_start, .last = counted->seq};
}

std::string CurrentCursor(db::Session& session, db::CompanyId company) {
  const std::optional<store::Counted> counted = store::Counters(session, company);
  return counted ? Encode({counted->values.epoch, counted->seq}) : Encode({1, 0});
}

void LoadCounters(db::Session& session, db::ChangeCounters& counters) {
  for (const auto& [company, counted] : store::AllCounters(session)) {
    counters.Publish(company, counted.values);
  }
}

UtcMs LastTime(db::Session& session) {
  UtcMs last = 0;
  for (const auto& [company, counted] : store::AllCounters(session)) {
    last = std::max(last, store::TimeOf(session, company, counted.seq).value_or(0));
  }
  return last;
}

void RaiseEpochs(db::Tx& tx, int64_t by) { store::RaiseEpochs(tx, by); }

void StartAnew(db::Tx& tx, db::CompanyId company) {
  store::DeleteAll(tx, company);
  store::CountAnew(tx, company);
  for (const Counter counter : {Counter::kOrders, Counter::kCatalogue, Counter::kOther}) {
    RaiseCounter(tx, company, counter);
  }
}

}  // namespace comanda::events
