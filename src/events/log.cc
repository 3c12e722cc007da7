#include "events/log.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/problem.h"
#include "crypto/derived_id.h"
#include "events/check.h"
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

// The counters in memory follow when the transaction is committed.
void PublishOnCommit(db::Tx& tx, db::CompanyId company, const store::Counted& counted) {
  tx.OnCommit([&counters = tx.counters(), company, values = counted.values] {
    counters.Publish(company, values);
  });
}

}  // namespace

HeldCounters::HeldCounters(db::Tx& tx, db::CompanyId company)
    : tx_(tx),
      company_(company),
      counted_(std::make_unique<store::Counted>(store::CountersOrNew(tx, company))) {}

HeldCounters::~HeldCounters() = default;

int64_t HeldCounters::next_seq() const { return counted_->seq + 1; }

std::optional<int64_t> HeldCounters::NextOrderNumber(std::string_view business_day) {
  if (!counted_->last_order) {
    log::Error("the last order number of a company is damaged: counting goes on from its orders",
               {{"company", company_.value}});
    return std::nullopt;
  }
  if (counted_->last_order->business_day != business_day) return std::nullopt;
  took_number_ = true;
  return ++counted_->last_order->number;
}

void HeldCounters::StartOrderNumbers(std::string_view business_day, int64_t first) {
  counted_->last_order = {.business_day = std::string(business_day), .number = first};
  took_number_ = true;
}

Appended HeldCounters::Append(const db::Stamp& stamp, const Event& event) {
  store::Counted& counted = *counted_;
  const TypeRow& type = Row(event.type);
  ++counted.values.changes[static_cast<size_t>(type.counter)];
  counted.values.events = ++counted.seq;
  const int64_t epoch = counted.values.epoch;
  const std::string event_id = crypto::DerivedId(
      event.company_uuid, std::to_string(epoch) + ':' + std::to_string(counted.seq));
  const std::string changes = Names(event.changes);
  const Content content{.seq = counted.seq,
                        .epoch = epoch,
                        .event_id = event_id,
                        .type = type.name,
                        .changes = changes,
                        .subject_type = type.subject,
                        .subject_id = event.subject_id,
                        .subject_version = event.subject_version,
                        .at = stamp.now,
                        .body = event.body,
                        .note = event.note};
  const int64_t checksum = ChecksumOf(company_, content);
  counted.chain = Chained(checksum, counted.chain);
  store::Insert(tx_, company_, content, checksum, counted.chain);
  store::Save(tx_, company_, counted, took_number_ ? counted.last_order : std::nullopt);
  PublishOnCommit(tx_, company_, counted);
  return {counted.seq, counted.log_start};
}

Appended Append(db::Tx& tx, db::CompanyId company, const db::Stamp& stamp, const Event& event) {
  return HeldCounters(tx, company).Append(stamp, event);
}

std::optional<StoredEvent> Find(db::Session& session, db::CompanyId company, int64_t seq) {
  std::vector<StoredEvent> found = store::After(session, company, seq - 1, 1);
  if (found.empty() || found.front().seq != seq) return std::nullopt;
  return std::move(found.front());
}

std::optional<std::string> BodyOf(db::Session& session, db::CompanyId company, int64_t seq) {
  std::optional<StoredEvent> event = Find(session, company, seq);
  if (!event) return std::nullopt;
  if (event->is_damaged) {
    throw Fault(Fault::Kind::kDamaged, "event " + std::to_string(seq) + " of company " +
                                           std::to_string(company.value) +
                                           " is not what was written");
  }
  return std::move(event->body);
}

bool UseRecordAt(db::Session& session, db::CompanyId company, int64_t seq,
                 std::string_view subject_id, int64_t subject_version,
                 const std::function<void(std::string_view body)>& use) {
  return store::UseRecordAt(session, company, seq, subject_id, subject_version, use);
}

bool HadBody(db::CompanyId company, const StoredEvent& event, std::string_view body) {
  Content content = ContentOf(event);
  content.body = body;
  return event.checksum == ChecksumOf(company, content);
}

bool RestoreBody(db::Tx& tx, db::CompanyId company, int64_t seq, std::string_view body) {
  const std::optional<StoredEvent> event = Find(tx, company, seq);
  if (!event || !HadBody(company, *event, body)) return false;
  store::SetBody(tx, company, seq, body);
  return true;
}

bool HasAllChecksums(db::Session& session, db::CompanyId company) {
  return store::HasAllChecksums(session, company);
}

void DropRecord(db::Tx& tx, db::CompanyId company, int64_t seq) { store::Delete(tx, company, seq); }

void RaiseCounter(db::Tx& tx, db::CompanyId company, Counter counter) {
  store::Counted counted = store::CountersOrNew(tx, company);
  ++counted.values.changes[static_cast<size_t>(counter)];
  store::Save(tx, company, counted);
  PublishOnCommit(tx, company, counted);
}

std::vector<StoredEvent> ReadAfter(db::Session& session, db::CompanyId company, int64_t seq,
                                   int limit, size_t bytes_max) {
  return store::After(session, company, seq, limit, bytes_max);
}

void ForEachHead(db::Session& session, db::CompanyId company, int64_t after, int64_t last,
                 const std::function<void(const EventHead&)>& use) {
  store::ForEachHead(session, company, after, last, use);
}

Extent ExtentOf(db::Session& session, db::CompanyId company) {
  const std::optional<store::Counted> counted = store::Counters(session, company);
  if (!counted) return {};
  return {.epoch = counted->values.epoch, .oldest = counted->log_start, .last = counted->seq};
}

bool CountersAreSound(db::Session& session, const std::vector<db::CompanyId>& companies) {
  const std::vector<db::CompanyId> counted = store::Companies(session);
  const auto is_known = [&](db::CompanyId company) {
    return std::ranges::find(companies, company) != companies.end();
  };
  const auto is_sound = [&](db::CompanyId company) { return store::IsSound(session, company); };
  return std::ranges::all_of(counted, is_known) && std::ranges::all_of(companies, is_sound);
}

void MendCounters(db::Tx& tx, const std::vector<db::CompanyId>& companies) {
  store::DeleteStrayCounters(tx, companies);
  for (const db::CompanyId company : companies) store::CountersOrNew(tx, company);
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

int64_t TotalOfChanges(db::Session& session) {
  int64_t total = 0;
  for (const auto& [company, counted] : store::AllCounters(session)) {
    for (const int64_t changes : counted.values.changes) total += changes;
  }
  return total;
}

void RaiseEpochs(db::Tx& tx, int64_t by) { store::RaiseEpochs(tx, by); }

void RestartNumbering(db::Tx& tx, db::CompanyId company) {
  store::DeleteAll(tx, company);
  store::CountAnew(tx, company);
  for (const Counter counter :
       {Counter::kOrders, Counter::kCatalogue, Counter::kOther, Counter::kKitchen}) {
    RaiseCounter(tx, company, counter);
  }
}

}  // namespace comanda::events
