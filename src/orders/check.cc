#include "orders/check.h"

#include <optional>

#include "base/problem.h"
#include "events/log.h"
#include "orders/record.h"
#include "orders/store.h"

namespace comanda::orders {
namespace {

bool RecordIsSound(db::Session& session, const Order& order) {
  if (!order.record_seq || order.render_version != kRenderVersion) return true;
  return events::UseRecordAt(session, order.company, *order.record_seq, order.id, order.version,
                             [](std::string_view) {});
}

void CheckOrder(db::Session& session, db::CompanyId company, const OrderKey& key,
                OrdersPart& part) {
  const std::optional<Order> order = Select(session, company, key.id);
  if (!order || order->created_at != key.created_at) {
    part.damage.push_back("order " + key.id + " is not where its index says");
    return;
  }
  if (!FacetFits(session, *order)) {
    part.damage.push_back("order " + key.id + " is not counted where it belongs");
  }
  if (!RecordIsSound(session, *order)) {
    part.damage.push_back(DamagedRecord(key.id));
    part.damaged_records.push_back(key.id);
  }
}

}  // namespace

OrdersPart CheckOrders(db::Session& session, db::CompanyId company, const OrderKey& position,
                       int64_t limit) {
  OrdersPart part{.position = position};
  const bool all_have_checksums = events::HasAllChecksums(session, company);
  for (OrderKey& key : SelectKeysBefore(session, company, position, limit)) {
    try {
      CheckOrder(session, company, key, part);
    } catch (const Fault& fault) {
      if (fault.kind != Fault::Kind::kDamaged) throw;
      part.damage.push_back(fault.cause);
      part.has_damaged_rows = true;
    }
    if (!all_have_checksums && !HasChecksum(session, company, key.id)) {
      part.without_checksum.push_back(key.id);
    }
    ++part.orders;
    part.position = std::move(key);
  }
  part.at_end = part.orders < limit;
  return part;
}

std::optional<Newest> FindNewest(db::Session& session, db::CompanyId company) {
  const std::vector<OrderKey> keys = SelectKeysBefore(session, company, {}, 1);
  if (keys.empty()) return std::nullopt;
  try {
    const std::optional<Order> order = Select(session, company, keys.front().id);
    if (!order) return std::nullopt;
    return Newest{.public_id = order->public_id, .created_at = order->created_at};
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged) throw;
    return std::nullopt;
  }
}

std::vector<OrderSum> SumsBefore(db::Session& session, db::CompanyId company,
                                 const OrderKey& position, int64_t limit) {
  return SelectSumsBefore(session, company, position, limit);
}

std::vector<std::string> CheckCounts(db::Session& session, db::CompanyId company) {
  if (CountWrongFacets(session, company) == 0) return {};
  return {"the counts of the orders of company " + std::to_string(company.value) +
          " are not those of its orders"};
}

int64_t CountAll(db::Session& session, db::CompanyId company) {
  return CountOrders(session, company);
}

std::string DamagedRecord(const std::string& id) {
  return "the stored record of order " + id + " is not what was written";
}

bool RemakeRecord(db::Tx& tx, db::CompanyId company, const std::string& id) {
  std::optional<Order> order = Select(tx, company, id);
  if (!order || RecordIsSound(tx, *order)) return false;
  // If more than the body of the event is damaged, the body is not restored: the record counts as
  // not stored from now on, and is rendered when it is read.
  if (!events::RestoreBody(tx, company, *order->record_seq, Render(*order))) {
    ForgetRecord(tx, *order);
  }
  // Lists that were answered meanwhile may lack the order: their entity tags become invalid.
  events::RaiseCounter(tx, company, events::Counter::kOrders);
  return true;
}

void GiveChecksum(db::Tx& tx, db::CompanyId company, const std::string& id) {
  if (HasChecksum(tx, company, id)) return;
  if (const std::optional<Order> order = Select(tx, company, id)) WriteChecksum(tx, *order);
}

}  // namespace comanda::orders
