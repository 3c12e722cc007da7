#include "orders/cloud_order.h"

#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/problem.h"
#include "clients/clients.h"
#include "company/companies.h"
#include "events/log.h"
#include "orders/change.h"
#include "orders/lifecycle.h"
#include "orders/record.h"
#include "orders/size.h"
#include "orders/store.h"
#include "orders/stored_record.h"

namespace comanda::orders {
namespace {

constexpr std::string_view kActor = "cloud";

void NumberRows(Order& order) {
  int64_t position = 0;
  for (Discount& discount : order.discounts) discount.position = position++;
}

// Inserts the order under the cloud's public id, or under the first free candidate.
void InsertUnderFreePublicId(db::Tx& tx, CloudOrder& cloud, int64_t created_seq) {
  Order& order = cloud.order;
  const bool is_usable = NormalisedKey(order.public_id) == order.public_id;
  if (is_usable && Insert(tx, order, created_seq)) return;
  for (const std::string& number : cloud.public_numbers) {
    order.public_id = order.country_code + "-" + number;
    if (Insert(tx, order, created_seq)) return;
  }
  throw Fault(Fault::Kind::kUnavailable, "every candidate for a public id is taken");
}

Record WriteNew(db::Tx& tx, CloudOrder cloud, const db::Stamp& stamp) {
  Order& order = cloud.order;
  order.version = 1;
  order.updated_at = stamp.now;
  if (order.status_history.empty()) {
    order.status_history.push_back(
        {.status = order.status, .at = order.created_at, .by = std::string(kActor)});
  }
  if (order.client_id && clients::Find(tx, order.company, *order.client_id)) {
    clients::NoteOrder(tx, order.company, *order.client_id, order.created_at, stamp);
  }
  events::HeldCounters counters(tx, order.company);
  InsertUnderFreePublicId(tx, cloud, counters.next_seq());
  std::string record = Render(order);
  RequireSizeOfWhole(record);
  const events::Appended event =
      counters.Append(stamp, EventOf(order, events::Type::kOrderCreated, {}, record));
  return {order.id, order.version, std::move(record), event.seq};
}

// What of the order is this box's own, and the state, which both sides move.
void KeepOwn(const Order& before, Order& after) {
  after.public_id = before.public_id;
  after.business_day = before.business_day;
  after.version = before.version;
  after.updated_at = before.updated_at;
  after.created_seq = before.created_seq;
  after.record_seq = before.record_seq;
  after.facet = before.facet;
  after.external_id = before.external_id;
  after.fingerprint = before.fingerprint;
  after.gone_at = before.gone_at;
}

// The later status of the two, with the history that led there.
void MergeStatus(const Order& before, const Order& cloud, UtcMs now, Order& after) {
  after.status = before.status;
  after.status_history = before.status_history;
  after.cancel_reason = before.cancel_reason;
  after.canceled_at = before.canceled_at;
  after.closed_at = before.closed_at;
  const bool is_later = before.status != Status::kCancelled && cloud.status > before.status;
  if (!is_later) {
    // A name that is unknown here says nothing of what comes behind a known status.
    if (before.status != cloud.status) after.unknown_status = before.unknown_status;
    return;
  }
  for (const StatusChange& change : cloud.status_history) {
    if (change.status > before.status) after.status_history.push_back(change);
  }
  if (after.status_history.back().status != cloud.status) {
    after.status_history.push_back({.status = cloud.status, .at = now, .by = std::string(kActor)});
  }
  after.status = cloud.status;
  after.cancel_reason = cloud.cancel_reason;
  after.canceled_at = cloud.status == Status::kCancelled
                          ? std::optional(cloud.canceled_at.value_or(now))
                          : std::nullopt;
  after.closed_at =
      IsClosed(cloud.status) ? std::optional(cloud.closed_at.value_or(now)) : std::nullopt;
}

auto TextsOf(const Order& order) {
  return std::tie(order.comment, order.order_title, order.delivery_comment, order.client_id,
                  order.client, order.table_id, order.table, order.address_id, order.address,
                  order.scheduled_delivery_date, order.delivery_price, order.packaging_price,
                  order.service_fee_price, order.unknown_members);
}

events::Changes Compare(const Order& before, const Order& after) {
  using enum events::Change;
  events::Changes changes;
  const auto add = [&](bool differs, events::Change change) {
    if (differs) changes.Add(change);
  };
  add(before.status != after.status || before.unknown_status != after.unknown_status, kStatus);
  add(before.combos != after.combos, kCombos);
  add(before.payments != after.payments, kPayments);
  add(before.discounts != after.discounts, kDiscounts);
  add(before.rider != after.rider, kRider);
  add(before.delivery_status != after.delivery_status, kDeliveryStatus);
  add(TextsOf(before) != TextsOf(after), kFields);
  add(before.totals.paid != after.totals.paid, kPaid);
  add(before.status != after.status && after.status == Status::kCancelled, kCancelled);
  return changes;
}

Record Renew(db::Tx& tx, const Order& before, Order cloud, const db::Stamp& stamp) {
  CHECK(before.origin == cloud.origin, "an order that was made here is not taken over");
  Order after = cloud;
  KeepOwn(before, after);
  MergeStatus(before, cloud, stamp.now, after);
  if (!before.gone_at && Render(after) == Render(before)) {
    const auto location = SelectRecordLocation(tx, before.company, before.id);
    return ReadRecord(tx, before.company, before.id, *location);
  }
  after.gone_at.reset();
  const events::Changes changes = Compare(before, after);
  return WriteChange(
      tx, before, std::move(after),
      {.changes = changes,
       .rows = Rows::kAll,
       .check = [](const Order&, std::string_view record) { RequireSizeOfWhole(record); }},
      stamp);
}

}  // namespace

Record TakeOver(db::Tx& tx, const company::Company& company, CloudOrder cloud,
                const db::Stamp& stamp) {
  Order& order = cloud.order;
  order.company = company.company_id;
  order.company_uuid = company.id;
  order.origin = cloud.was_made_here ? Origin::kBox : Origin::kCloud;
  NumberRows(order);
  const std::optional<Order> before = Select(tx, company.company_id, order.id);
  if (before) return Renew(tx, *before, std::move(order), stamp);
  if (!order.business_day) {
    order.business_day = FormatDay(company::BusinessDays(company).Of(order.created_at));
  }
  return WriteNew(tx, std::move(cloud), stamp);
}

std::optional<Record> MarkGone(db::Tx& tx, db::CompanyId company, std::string_view id,
                               const db::Stamp& stamp) {
  const std::optional<Order> before = Select(tx, company, id);
  if (!before) return std::nullopt;
  if (before->gone_at) {
    const auto location = SelectRecordLocation(tx, company, id);
    return ReadRecord(tx, company, id, *location);
  }
  Order after = *before;
  after.gone_at = stamp.now;
  return WriteChange(tx, *before, std::move(after), {.type = events::Type::kOrderDeleted}, stamp);
}

}  // namespace comanda::orders
