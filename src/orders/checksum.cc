#include "orders/checksum.h"

#include <optional>

#include "base/checksum.h"

namespace comanda::orders {
namespace {

void AddIdentity(Checksum& sum, const Order& order) {
  sum.Add(order.company.value).Add(order.id).Add(order.public_id).Add(order.order_number);
  sum.Add(order.reference).Add(order.fingerprint).Add(order.source).Add(order.external_id);
  sum.Add(order.country_code).Add(order.timezone).Add(order.currency).Add(order.version);
  sum.Add(order.created_at).Add(order.updated_at).Add(order.created_seq).Add(order.facet);
  sum.Add(order.record_seq).Add(order.render_version);
}

void AddRider(Checksum& sum, const std::optional<Rider>& rider) {
  sum.Add(int64_t{rider.has_value()});
  if (!rider) return;
  sum.Add(rider->provider).Add(rider->user_id).Add(rider->name).Add(rider->phone_number);
  sum.Add(rider->country_calling_code).Add(rider->assigned_at);
}

void AddState(Checksum& sum, const Order& order) {
  sum.Add(static_cast<int64_t>(order.status)).Add(static_cast<int64_t>(order.service_type));
  const auto& delivery_status = order.delivery_status;
  sum.Add(delivery_status ? static_cast<int64_t>(*delivery_status) : int64_t{-1});
  sum.Add(order.delivery_status_reason).Add(int64_t{order.delivery_status_by_rider});
  sum.Add(order.delivered_by).Add(order.cancel_reason).Add(order.canceled_at);
  sum.Add(order.closed_at).Add(order.scheduled_delivery_date);
  AddRider(sum, order.rider);
}

void AddTexts(Checksum& sum, const Order& order) {
  sum.Add(order.client_id).Add(order.client).Add(order.table_id).Add(order.table);
  sum.Add(order.address_id).Add(order.address);
  sum.Add(order.comment).Add(order.order_title).Add(order.delivery_comment);
}

void AddMoney(Checksum& sum, const Order& order) {
  const Totals& totals = order.totals;
  sum.Add(order.delivery_price).Add(order.packaging_price).Add(order.service_fee_price);
  sum.Add(totals.subtotal).Add(totals.total_discounts).Add(totals.total_tips).Add(totals.total);
  sum.Add(totals.total_paid).Add(int64_t{totals.paid}).Add(order.paid_at);
}

// Nothing for an order that was made here, so that the checksums of older programs stay right.
void AddCloud(Checksum& sum, const Order& order) {
  const bool has_none = order.origin == Origin::kBox && !order.unknown_status &&
                        !order.unknown_members && !order.gone_at;
  if (has_none) return;
  sum.Add(static_cast<int64_t>(order.origin)).Add(order.unknown_status);
  sum.Add(order.unknown_members).Add(order.gone_at);
}

// Nothing for an order of an older program, whose row has none.
void AddBusinessDay(Checksum& sum, const Order& order) {
  if (order.business_day) sum.Add(*order.business_day);
}

void AddRow(Checksum& sum, const Combo& combo);
void AddRow(Checksum& sum, const Payment& payment);
void AddRow(Checksum& sum, const Discount& discount);

void AddRow(Checksum& sum, const StatusChange& change) {
  sum.Add(static_cast<int64_t>(change.status)).Add(change.at).Add(change.by);
  sum.Add(int64_t{change.implied}).Add(change.request_key);
  // Rows of older programs have none, and their sums stay valid.
  if (change.lines) sum.Add(*change.lines);
}

void AddRow(Checksum& sum, const Modifier& modifier) {
  sum.Add(modifier.id).Add(modifier.modifier_id).Add(modifier.name).Add(modifier.quantity);
  sum.Add(modifier.price).Add(modifier.original_price).Add(modifier.unit_quantity);
  sum.Add(modifier.unit_price).Add(modifier.original_unit_price);
  // Rows of older programs have none, and their sums stay valid.
  if (modifier.group_name) sum.Add(modifier.group_name);
}

template <typename Row>
void AddRows(Checksum& sum, const std::vector<Row>& rows) {
  sum.Add(static_cast<int64_t>(rows.size()));
  for (const Row& row : rows) AddRow(sum, row);
}

void AddRow(Checksum& sum, const Combo& combo) {
  sum.Add(combo.id).Add(combo.product_id).Add(combo.variant_id).Add(combo.product_name);
  sum.Add(combo.product_category_name).Add(combo.variant_name).Add(combo.sku);
  sum.Add(combo.quantity).Add(combo.comment).Add(combo.variant_price);
  sum.Add(combo.variant_original_price).Add(combo.modifiers_price).Add(combo.combo_price);
  sum.Add(combo.combo_original_price).Add(combo.variant_unit_price);
  sum.Add(combo.variant_original_unit_price).Add(combo.kitchen_id).Add(combo.stock_taken);
  sum.Add(combo.created_at).Add(combo.canceled_at).Add(combo.request_key);
  AddRows(sum, combo.modifiers);
}

void AddRow(Checksum& sum, const Payment& payment) {
  sum.Add(payment.id).Add(payment.method.id).Add(payment.method.code);
  sum.Add(payment.method.description).Add(payment.amount).Add(payment.tip_amount);
  sum.Add(payment.received_amount).Add(payment.reference).Add(payment.comment);
  sum.Add(payment.created_at).Add(payment.canceled_at).Add(payment.request_key);
}

void AddRow(Checksum& sum, const Discount& discount) {
  sum.Add(discount.id).Add(discount.position).Add(static_cast<int64_t>(discount.type));
  sum.Add(discount.value).Add(discount.amount).Add(discount.reason).Add(discount.created_at);
  sum.Add(discount.request_key);
}

}  // namespace

int64_t ChecksumOf(const Order& order) {
  Checksum sum;
  AddIdentity(sum, order);
  AddState(sum, order);
  AddTexts(sum, order);
  AddMoney(sum, order);
  AddRows(sum, order.status_history);
  AddRows(sum, order.combos);
  AddRows(sum, order.payments);
  AddRows(sum, order.discounts);
  AddCloud(sum, order);
  AddBusinessDay(sum, order);
  return sum.Value();
}

}  // namespace comanda::orders
