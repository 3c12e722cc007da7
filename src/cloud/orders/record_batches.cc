#include "cloud/orders/record_batches.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "aliases/aliases.h"
#include "base/concat.h"
#include "base/log.h"
#include "base/problem.h"
#include "cloud/orders/cloud_record.h"
#include "cloud/orders/journal_store.h"
#include "cloud/orders/orders_reader.h"
#include "cloud/orders/pending.h"
#include "cloud/orders/record_merge.h"
#include "company/companies.h"
#include "crypto/hash.h"
#include "orders/orders.h"

namespace comanda::cloud {
namespace {

constexpr size_t kAtOnce = 8;  // records in a transaction, for which a till may wait
// What is kept in memory.
constexpr size_t kTakenMax = 20'000;
constexpr size_t kReportedMax = 1'000;

uint64_t HashOf(std::string_view text) {
  const crypto::Sha256Digest digest = crypto::Sha256(text);
  uint64_t hash = 0;
  std::memcpy(&hash, digest.data(), sizeof hash);
  return hash;
}

}  // namespace

void RecordBatches::Forget() {
  taken_.clear();
  reported_.clear();
}

std::vector<RecordBatches::Change> RecordBatches::ChangesOf(std::span<const json::Value> records,
                                                            Shown shown) {
  std::vector<Change> changes;
  for (const json::Value& record : records) {
    std::string id = CloudIdOf(record);
    const uint64_t hash = HashOf(record.Canonical());
    const uint64_t key = HashOf(Concat({shown == Shown::kAlone ? "alone " : "", id}));
    const auto known = taken_.find(key);
    if (known != taken_.end() && known->second == hash) continue;
    changes.push_back({.record = record,
                       .cloud_id = std::move(id),
                       .key = key,
                       .hash = hash,
                       .numbers = orders::PublicNumbers()});
  }
  return changes;
}

std::vector<json::Value> RecordBatches::Take(const Linked& linked,
                                             std::span<const json::Value> records, Shown shown,
                                             const std::optional<std::string>& cursor) {
  const std::vector<Change> changes = ChangesOf(records, shown);
  std::span<const Change> rest = changes;
  while (!rest.empty() || cursor) {
    const std::span<const Change> some = rest.first(std::min(rest.size(), kAtOnce));
    rest = rest.subspan(some.size());
    TakeSome(linked, some, rest.empty() ? cursor : std::nullopt);
    if (rest.empty()) break;
  }
  std::vector<json::Value> taken;
  for (const Change& change : changes) taken.push_back(change.record);
  return taken;
}

// One record that cannot be stored does not keep the others from it.
void RecordBatches::TakeSome(const Linked& linked, std::span<const Change> changes,
                             const std::optional<std::string>& cursor) {
  std::vector<Merged> taken;
  try {
    taken = settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
      std::vector<Merged> results;
      const company::Company company = company::Get(tx, linked.company);
      for (const Change& change : changes) {
        results.push_back(MergeRecord(tx,
                                      {.company = company,
                                       .public_numbers = change.numbers,
                                       .rules = RulesOf(settings_.rider_provider, linked.link),
                                       .platform_name = settings_.platform_name},
                                      change.record, stamp));
        if (results.back() != Merged::kUnreadable) {
          store::RemoveUnreadable(tx, linked.company, change.cloud_id);
        }
      }
      if (cursor) PutCursor(tx, linked.company, cursor);
      return results;
    });
  } catch (const Refusal& refusal) {
    if (IsOneAlone(changes, cursor)) {
      Report("an order of the cloud is refused", changes.front().cloud_id, refusal.detail);
      taken = {Merged::kUnchanged};
    }
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged || changes.empty()) throw;
    if (IsOneAlone(changes, cursor)) {
      Report("an order of the cloud cannot be stored", changes.front().cloud_id, fault.cause);
      taken = {Merged::kUnchanged};
    }
  }
  if (taken.size() != changes.size()) {
    for (size_t i = 0; i < changes.size(); ++i) TakeSome(linked, changes.subspan(i, 1), {});
    if (cursor) TakeSome(linked, {}, cursor);
    return;
  }
  if (taken_.size() + changes.size() > kTakenMax) taken_.clear();
  for (size_t i = 0; i < changes.size(); ++i) {
    taken_[changes[i].key] = changes[i].hash;
    if (taken[i] != Merged::kUnreadable) continue;
    const std::string why = WhyUnreadable(linked, changes[i].record);
    Report("an order of the cloud cannot be read", changes[i].cloud_id, why);
    NoteUnreadable(linked, changes[i].cloud_id, why);
  }
}

// Nothing of that version of the order is here, which nobody shall take for "in step".
void RecordBatches::NoteUnreadable(const Linked& linked, const std::string& cloud_id,
                                   const std::string& why) {
  settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const auto id = aliases::FindBoxId(tx, linked.company, aliases::Kind::kOrder, cloud_id);
    store::PutUnreadable(tx, linked.company, cloud_id, id.value_or(""), why, stamp.now);
  });
}

std::string RecordBatches::WhyUnreadable(const Linked& linked, json::Value record) {
  const company::Company company = settings_.database.Read(
      [&](db::Snapshot& snapshot) { return company::Get(snapshot, linked.company); });
  try {
    ReadCloudRecord(record, {.company = company,
                             .platform_there = "",
                             .platform_here = "",
                             .find_here = [](aliases::Kind, std::string_view) {
                               return std::optional<std::string>();
                             }});
  } catch (const UnreadableRecord& unreadable) {
    return unreadable.why;
  }
  return "its record is too large";
}

void RecordBatches::Report(std::string_view what, std::string_view which, std::string_view why) {
  if (reported_.size() >= kReportedMax) reported_.clear();
  if (!reported_.insert(Concat({what, " ", which})).second) return;
  log::Warning(what, {{"which", which}, {"why", why}});
}

}  // namespace comanda::cloud
