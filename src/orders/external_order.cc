#include "orders/external_order.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "clients/clients.h"
#include "company/companies.h"
#include "menu/menu.h"
#include "orders/change.h"
#include "orders/lifecycle.h"
#include "orders/pricing.h"
#include "orders/record.h"
#include "orders/size.h"
#include "orders/stock.h"
#include "orders/store.h"

namespace comanda::orders {
namespace {

// The parts of a record that are added when it is written: numbers and times.
constexpr size_t kAddedBytes = 512;

// Completes an order by what is stored of it and by the menu.
class Completer {
 public:
  Completer(db::Session& session, const Order* before, UtcMs now)
      : session_(session), before_(before), now_(now) {}

  void Complete(ExternalOrder& external) {
    Order& draft = external.order;
    if (draft.created_at == 0) draft.created_at = before_ ? before_->created_at : now_;
    if (before_) KeepWhatIsNotShown(external.shows, draft);
    DateRows(draft.combos, before_ ? &before_->combos : nullptr, draft.created_at);
    DateRows(draft.payments, before_ ? &before_->payments : nullptr, draft.created_at);
    int64_t position = 0;
    for (Discount& row : draft.discounts) {
      row.position = position++;
      if (row.created_at == 0) row.created_at = draft.created_at;
    }
    for (StatusChange& change : draft.status_history) {
      if (change.at == 0) change.at = draft.created_at;
    }
    const auto fill = [&](std::optional<UtcMs>& at, const std::optional<UtcMs>& earlier) {
      if (at == 0) at = earlier.value_or(now_);
    };
    fill(draft.paid_at, before_ ? before_->paid_at : std::nullopt);
    fill(draft.closed_at, before_ ? before_->closed_at : std::nullopt);
    fill(draft.canceled_at, before_ ? before_->canceled_at : std::nullopt);
    if (draft.rider) DateRider(*draft.rider);
    if (external.figures == Figures::kOurs) return;  // its lines are linked to the menu
    for (Combo& combo : draft.combos) CompleteLine(draft.company, combo);
  }

 private:
  // What is not shown of an item is that of the product here. The kitchen that cooks it is one of
  // this box. A row that is here already keeps both, whatever the menu says meanwhile.
  void CompleteLine(db::CompanyId company, Combo& combo) {
    const auto known = before_ ? std::ranges::find(before_->combos, combo.id, &Combo::id)
                               : std::vector<Combo>::const_iterator();
    if (before_ && known != before_->combos.end()) {
      combo.kitchen_id = known->kitchen_id;
      CompleteNames(combo, known->product_name, known->product_category_name, known->variant_name);
      return;
    }
    const std::optional<menu::Item> item = FindItem(company, combo);
    if (!item) return;
    combo.kitchen_id = item->kitchen_id;
    CompleteNames(combo, item->product_name, item->category_name, item->variant_name);
  }

  std::optional<menu::Item> FindItem(db::CompanyId company, const Combo& combo) {
    std::optional<menu::Item> item;
    if (combo.variant_id) item = menu::FindVariant(session_, company, *combo.variant_id);
    if (!item && combo.product_id) item = menu::FindProduct(session_, company, *combo.product_id);
    if (!item && combo.sku) item = menu::FindSku(session_, company, *combo.sku);
    return item;
  }

  static void CompleteNames(Combo& combo, const std::string& product,
                            const std::optional<std::string>& category,
                            const std::optional<std::string>& variant) {
    if (combo.product_name.empty()) combo.product_name = product;
    if (!combo.product_category_name) combo.product_category_name = category;
    if (!combo.variant_name) combo.variant_name = variant;
  }

  template <typename Rows>
  void DateRows(Rows& rows, const Rows* earlier, UtcMs created_at) const {
    for (auto& row : rows) {
      if (row.created_at == 0) row.created_at = created_at;
      if (row.canceled_at != 0) continue;
      const auto found = earlier ? std::ranges::find(*earlier, row.id, &Rows::value_type::id)
                                 : typename Rows::const_iterator();
      const bool is_known = earlier && found != earlier->end();
      row.canceled_at = is_known ? found->canceled_at.value_or(now_) : now_;
    }
  }

  void KeepWhatIsNotShown(const Shown& shows, Order& draft) const {
    if (!shows.combos) draft.combos = before_->combos;
    if (!shows.payments) draft.payments = before_->payments;
    if (!shows.discounts) draft.discounts = before_->discounts;
    if (!shows.total) {
      draft.totals.subtotal = before_->totals.subtotal;
      draft.totals.total_discounts = before_->totals.total_discounts;
      draft.totals.total = before_->totals.total;
    }
    if (!shows.total_paid) {
      draft.totals.total_paid = before_->totals.total_paid;
      draft.totals.total_tips = before_->totals.total_tips;
      draft.totals.paid = before_->totals.paid;
      draft.paid_at = before_->paid_at;
    }
  }

  void DateRider(Rider& rider) const {
    if (rider.assigned_at != 0) return;
    rider.assigned_at = now_;
    if (!before_ || !before_->rider) return;
    Rider same = *before_->rider;
    same.assigned_at = rider.assigned_at;
    if (same == rider) rider.assigned_at = before_->rider->assigned_at;
  }

  db::Session& session_;
  const Order* const before_;
  const UtcMs now_;
};

// Renewing

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
void MergeStatus(const Order& before, const Order& shown, std::string_view actor, UtcMs now,
                 Order& after) {
  after.status = before.status;
  after.status_history = before.status_history;
  after.cancel_reason = before.cancel_reason;
  after.canceled_at = before.canceled_at;
  after.closed_at = before.closed_at;
  const bool is_later = before.status != Status::kCancelled && shown.status > before.status;
  if (!is_later) {
    // Keeps the unknown name, which belongs to the status that stays.
    if (before.status != shown.status) after.unknown_status = before.unknown_status;
    return;
  }
  for (const StatusChange& change : shown.status_history) {
    if (change.status > before.status) after.status_history.push_back(change);
  }
  if (after.status_history.back().status != shown.status) {
    after.status_history.push_back({.status = shown.status, .at = now, .by = std::string(actor)});
  }
  after.status = shown.status;
  after.cancel_reason = shown.cancel_reason;
  after.canceled_at = shown.status == Status::kCancelled
                          ? std::optional(shown.canceled_at.value_or(now))
                          : std::nullopt;
  after.closed_at =
      IsClosed(shown.status) ? std::optional(shown.closed_at.value_or(now)) : std::nullopt;
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

Record Renew(db::Tx& tx, const Order& before, const Order& shown, std::string_view actor,
             const db::Stamp& stamp) {
  CHECK(before.origin == shown.origin, "an order that was made here is not taken over");
  Order after = shown;
  KeepOwn(before, after);
  MergeStatus(before, shown, actor, stamp.now, after);
  if (!before.gone_at && Render(after) == Render(before)) {
    return *Find(tx, before.company, before.id);
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

// Placing

Record PlaceOurs(db::Tx& tx, const company::Company& company, ExternalOrder external,
                 const db::Stamp& stamp) {
  Order& order = external.order;
  CHECK(order.external_id && order.source != kApiSource,
        "an order of another channel has the id that the channel gave it");
  const auto id = SelectIdByExternalId(tx, order.company, order.source, *order.external_id);
  if (auto earlier = id ? Find(tx, order.company, *id) : std::nullopt) return *std::move(earlier);
  RequireCap(order.combos.size(), kCombosMax, "combos");
  RequireCap(order.payments.size(), kPaymentsMax, "payments");
  RequireCap(order.discounts.size(), kDiscountsMax, "discounts");
  Completer(tx, nullptr, stamp.now).Complete(external);
  const Status status = std::exchange(order.status, Status::kPending);
  order.status_history = {
      {.status = Status::kPending, .at = order.created_at, .by = external.actor}};
  if (status != Status::kCancelled) MoveTo(order, status, order.created_at, external.actor);
  order.paid_at.reset();
  PriceOrRefuse(order, order.created_at, "body");
  std::vector<Combo*> combos;
  for (Combo& combo : order.combos) combos.push_back(&combo);
  const std::string note = DeductStock(tx, order.company, combos, stamp);
  return WriteNew(tx, company, std::move(order),
                  {.public_numbers = external.public_numbers, .note = note}, stamp);
}

Record PlaceOrRenewTheirs(db::Tx& tx, const company::Company& company, ExternalOrder external,
                          const db::Stamp& stamp) {
  Order& order = external.order;
  const std::optional<Order> before = Select(tx, order.company, order.id);
  Completer(tx, before ? &*before : nullptr, stamp.now).Complete(external);
  RequireSizeOfWhole(Render(order), kAddedBytes);
  if (before) return Renew(tx, *before, order, external.actor, stamp);
  if (!order.business_day) {
    order.business_day = FormatDay(company::BusinessDays(company).Of(order.created_at));
  }
  if (order.client_id && clients::Find(tx, order.company, *order.client_id)) {
    clients::NoteOrder(tx, order.company, *order.client_id, order.created_at, stamp);
  }
  return WriteNew(tx, company, std::move(order),
                  {.public_numbers = external.public_numbers, .has_number = true}, stamp);
}

}  // namespace

Order BlankOrder(const company::Company& company) {
  Order order;
  order.company = company.company_id;
  order.company_uuid = company.id;
  order.country_code = company.country_code;
  order.timezone = company.timezone;
  order.currency = company.currency;
  order.currency_decimals = company.currency_decimals;
  return order;
}

Record Ingest(db::Tx& tx, const company::Company& company, ExternalOrder external,
              const db::Stamp& stamp) {
  external.order.company = company.company_id;
  external.order.company_uuid = company.id;
  const bool is_ours = external.figures == Figures::kOurs;
  return is_ours ? PlaceOurs(tx, company, std::move(external), stamp)
                 : PlaceOrRenewTheirs(tx, company, std::move(external), stamp);
}

std::optional<Record> MarkGone(db::Tx& tx, db::CompanyId company, std::string_view id,
                               const db::Stamp& stamp) {
  const std::optional<Order> before = Select(tx, company, id);
  if (!before) return std::nullopt;
  if (before->gone_at) return Find(tx, company, id);
  Order after = *before;
  after.gone_at = stamp.now;
  return WriteChange(tx, *before, std::move(after), {.type = events::Type::kOrderDeleted}, stamp);
}

}  // namespace comanda::orders
