#include "orders/record.h"

#include "base/problem.h"
#include "json/reader.h"
#include "json/writer.h"
#include "orders/lifecycle.h"

namespace comanda::orders {
namespace {

void WriteIdentity(json::Writer& out, const Order& order) {
  out.Key("id").Text(order.id);
  out.Key("public_id").Text(order.public_id);
  out.Key("order_number").Integer(order.order_number);
  out.Key("business_day").Text(order.business_day);
  out.Key("reference").Text(order.reference);
  out.Key("company_id").Text(order.company_uuid);
  out.Key("source").Text(order.source);
  out.Key("country_code").Text(order.country_code);
  out.Key("timezone").Text(order.timezone);
  out.Key("currency").Text(order.currency);
  out.Key("version").Integer(order.version);
}

void WriteHistory(json::Writer& out, const Order& order) {
  out.Key("status_history").BeginArray();
  for (const StatusChange& change : order.status_history) {
    out.BeginObject();
    out.Key("status").Text(Name(change.status));
    out.Key("at").Instant(change.at);
    out.Key("by").Text(change.by);
    out.Key("implied").Boolean(change.implied);
    out.EndObject();
  }
  out.EndArray();
}

// Writes the JSON unchanged, or null.
void WriteRaw(json::Writer& out, const std::optional<std::string>& json) {
  out.Raw(json ? std::string_view(*json) : "null");
}

void WriteRider(json::Writer& out, const std::optional<Rider>& rider) {
  out.Key("rider");
  if (!rider) {
    out.Null();
    return;
  }
  out.BeginObject();
  out.Key("provider").Text(rider->provider);
  out.Key("user_id");
  WriteRaw(out, rider->user_id);
  out.Key("name").Text(rider->name);
  out.Key("phone_number").Text(rider->phone_number);
  out.Key("country_calling_code").Text(rider->country_calling_code);
  out.Key("assigned_at").Instant(rider->assigned_at);
  out.EndObject();
}

void WriteState(json::Writer& out, const Order& order) {
  out.Key("status").Text(Name(order.status));
  out.Key("foreign_status").Text(order.unknown_status);
  out.Key("service_type").Text(Name(order.service_type));
  WriteHistory(out, order);
  out.Key("delivery_status");
  if (order.delivery_status) {
    out.Text(Name(*order.delivery_status));
  } else {
    out.Null();
  }
  out.Key("delivery_status_reason").Text(order.delivery_status_reason);
  out.Key("delivered_by").Text(order.delivered_by);
  WriteRider(out, order.rider);
  out.Key("pending_at").Instant(ReachedAt(order, Status::kPending));
  out.Key("preparing_at").Instant(ReachedAt(order, Status::kPreparing));
  out.Key("ready_at").Instant(ReachedAt(order, Status::kReady));
  out.Key("delivered_at").Instant(ReachedAt(order, Status::kDelivered));
  out.Key("finalized_at").Instant(ReachedAt(order, Status::kFinalized));
  out.Key("canceled_at").Instant(order.canceled_at);
  out.Key("closed_at").Instant(order.closed_at);
  out.Key("cancel_reason").Text(order.cancel_reason);
  out.Key("scheduled_delivery_date").Instant(order.scheduled_delivery_date);
  out.Key("created_at").Instant(order.created_at);
  out.Key("updated_at").Instant(order.updated_at);
}

void WritePeople(json::Writer& out, const Order& order) {
  out.Key("client_id").Text(order.client_id);
  out.Key("client");
  WriteRaw(out, order.client);
  out.Key("table_id").Text(order.table_id);
  out.Key("table");
  WriteRaw(out, order.table);
  out.Key("address_id").Text(order.address_id);
  out.Key("address");
  WriteRaw(out, order.address);
  out.Key("comment").Text(order.comment);
  out.Key("order_title").Text(order.order_title);
  out.Key("delivery_comment").Text(order.delivery_comment);
}

void WriteMoney(json::Writer& out, const Order& order) {
  const int decimals = order.currency_decimals;
  const Totals& totals = order.totals;
  out.Key("subtotal").Scaled(totals.subtotal, decimals);
  out.Key("total_discounts").Scaled(totals.total_discounts, decimals);
  out.Key("delivery_price").Scaled(order.delivery_price, decimals);
  out.Key("packaging_price").Scaled(order.packaging_price, decimals);
  out.Key("service_fee_price").Scaled(order.service_fee_price, decimals);
  out.Key("total_tips").Scaled(totals.total_tips, decimals);
  out.Key("total").Scaled(totals.total, decimals);
  out.Key("total_paid").Scaled(totals.total_paid, decimals);
  out.Key("pending_amount").Scaled(totals.pending_amount(), decimals);
  out.Key("overpayment").Scaled(totals.overpayment(), decimals);
  out.Key("paid").Boolean(totals.paid);
  out.Key("paid_at").Instant(order.paid_at);
}

void WriteModifier(json::Writer& out, const Modifier& modifier, int decimals) {
  out.BeginObject();
  out.Key("id").Text(modifier.id);
  out.Key("modifier_id").Text(modifier.modifier_id);
  out.Key("group_name").Text(modifier.group_name);
  out.Key("name").Text(modifier.name);
  out.Key("quantity").Scaled(modifier.quantity, kQuantityDecimals);
  out.Key("price").Scaled(modifier.price, decimals);
  out.Key("original_price").Scaled(modifier.original_price, decimals);
  out.EndObject();
}

void WriteCombo(json::Writer& out, const Combo& combo, int decimals) {
  out.BeginObject();
  out.Key("id").Text(combo.id);
  out.Key("product_id").Text(combo.product_id);
  out.Key("variant_id").Text(combo.variant_id);
  out.Key("product_name").Text(combo.product_name);
  out.Key("product_category_name").Text(combo.product_category_name);
  out.Key("variant_name").Text(combo.variant_name);
  out.Key("sku").Text(combo.sku);
  out.Key("quantity").Scaled(combo.quantity, kQuantityDecimals);
  out.Key("comment").Text(combo.comment);
  out.Key("variant_price").Scaled(combo.variant_price, decimals);
  out.Key("variant_original_price").Scaled(combo.variant_original_price, decimals);
  out.Key("modifiers_price").Scaled(combo.modifiers_price, decimals);
  out.Key("combo_price").Scaled(combo.combo_price, decimals);
  out.Key("combo_original_price").Scaled(combo.combo_original_price, decimals);
  out.Key("modifiers").BeginArray();
  for (const Modifier& modifier : combo.modifiers) WriteModifier(out, modifier, decimals);
  out.EndArray();
  out.Key("kitchen_id").Text(combo.kitchen_id);
  out.Key("created_at").Instant(combo.created_at);
  out.Key("canceled_at").Instant(combo.canceled_at);
  out.EndObject();
}

std::optional<Minor> ChangeAmount(const Payment& payment) {
  if (!payment.received_amount) return std::nullopt;
  return *payment.received_amount - payment.amount - payment.tip_amount;
}

void WritePayment(json::Writer& out, const Payment& payment, int decimals) {
  out.BeginObject();
  out.Key("id").Text(payment.id);
  out.Key("payment_method").BeginObject();
  out.Key("id").Text(payment.method.id);
  out.Key("code").Text(payment.method.code);
  out.Key("description").Text(payment.method.description);
  out.EndObject();
  out.Key("amount").Scaled(payment.amount, decimals);
  out.Key("bill_amount").Scaled(payment.amount, decimals);
  out.Key("tip_amount").Scaled(payment.tip_amount, decimals);
  out.Key("received_amount").Scaled(payment.received_amount, decimals);
  out.Key("change_amount").Scaled(ChangeAmount(payment), decimals);
  out.Key("fee_amount").Integer(0);
  out.Key("reference").Text(payment.reference);
  out.Key("comment").Text(payment.comment);
  out.Key("created_at").Instant(payment.created_at);
  out.Key("canceled_at").Instant(payment.canceled_at);
  out.EndObject();
}

void WriteDiscount(json::Writer& out, const Discount& discount, int decimals) {
  const bool percentage = discount.type == DiscountType::kPercentage;
  out.BeginObject();
  out.Key("id").Text(discount.id);
  out.Key("type").Text(Name(discount.type));
  out.Key("value").Scaled(discount.value, percentage ? kPercentageDecimals : decimals);
  out.Key("amount").Scaled(discount.amount, decimals);
  out.Key("reason").Text(discount.reason);
  out.Key("created_at").Instant(discount.created_at);
  out.EndObject();
}

template <typename Row>
void WriteRows(json::Writer& out, json::Name name, const std::vector<Row>& rows, int decimals,
               void (*write)(json::Writer&, const Row&, int)) {
  out.Key(name).BeginArray();
  for (const Row& row : rows) write(out, row, decimals);
  out.EndArray();
}

// Those of the cloud. An older program may have kept what this one shows itself: that is in
// `begun`, the record so far.
void WriteUnknownMembers(json::Writer& out, const std::string& begun, const std::string& unknown) {
  const json::Document shown = json::Document::ParseStored(begun + "}");
  const json::Document kept = json::Document::ParseStored(unknown);
  for (const auto& [name, value] : kept.root().members()) {
    if (!shown.root().Find(name)) out.KeyOf(name).Raw(value.Canonical());
  }
}

}  // namespace

std::string Render(const Order& order) {
  constexpr size_t kHeadBytes = 2048;  // this and the next suffice for most orders
  constexpr size_t kRowBytes = 768;
  std::string record;
  record.reserve(kHeadBytes + (order.combos.size() + order.payments.size()) * kRowBytes);
  json::Writer out(record);
  out.BeginObject();
  WriteIdentity(out, order);
  WriteState(out, order);
  WritePeople(out, order);
  WriteMoney(out, order);
  if (order.unknown_members) WriteUnknownMembers(out, record, *order.unknown_members);
  WriteRows(out, "combos", order.combos, order.currency_decimals, WriteCombo);
  WriteRows(out, "payments", order.payments, order.currency_decimals, WritePayment);
  WriteRows(out, "discounts", order.discounts, order.currency_decimals, WriteDiscount);
  out.EndObject();
  return record;
}

std::string Cut(std::string record, Include include) {
  if (include == Include{}) return record;
  // The lists are the last members, in this order, and are searched from the end: members of the
  // cloud before them may contain such names. The searched texts contain unescaped quotes and so
  // cannot occur inside a string.
  constexpr std::string_view kNames[] = {",\"combos\":[", ",\"payments\":[", ",\"discounts\":["};
  const bool kept[] = {include.combos, include.payments, include.discounts};
  size_t begins[4] = {};
  begins[3] = record.size() - 1;  // the closing brace
  for (size_t list = 3; list-- > 0;) {
    begins[list] = record.rfind(kNames[list], begins[list + 1]);
    if (begins[list] == record.npos) {
      throw Fault(Fault::Kind::kDamaged,
                  "a record of an order without" + std::string(kNames[list]));
    }
  }
  for (size_t list = 3; list-- > 0;) {
    if (!kept[list]) record.erase(begins[list], begins[list + 1] - begins[list]);
  }
  return record;
}

}  // namespace comanda::orders
