#include "cloud/orders/cloud_record.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/concat.h"
#include "base/id.h"
#include "base/text.h"
#include "cloud/orders/mirror.h"
#include "cloud/orders/shown_members.h"
#include "cloud/orders/unknown_members.h"
#include "crypto/derived_id.h"
#include "json/writer.h"
#include "orders/lifecycle.h"
#include "orders/orders.h"
#include "orders/pricing.h"

namespace comanda::cloud {
namespace {

using aliases::Kind;
using Of = UnknownMembers::Of;
using orders::Order;
using orders::Status;

constexpr std::string_view kActor = "cloud";
constexpr size_t kIdMax = 200;         // bytes of an id of the cloud
constexpr size_t kWordMax = 100;       // bytes of a status, a source, a public id
constexpr size_t kReferenceMax = 255;  // bytes of an Idempotency-Key
constexpr size_t kHistoryMax = 100;    // entries of a status history
constexpr int64_t kQuantityMax = 9'999'999'999;
constexpr int64_t kPercentageMax = 1'000'000;
// Larger numbers are no numbers for people, and would move those that this box gives.
constexpr int64_t kOrderNumberMax = 999'999;

// The members that say when an order reached a status, in the order of orders::kStatusNames.
constexpr std::array<std::string_view, 6> kReachedAt = {
    "pending_at", "preparing_at", "ready_at", "delivered_at", "finalized_at", "canceled_at"};

template <typename... Pieces>
[[noreturn]] void Refuse(const Pieces&... pieces) {
  throw UnreadableRecord{Concat({pieces...})};
}

void RequireCap(size_t rows, size_t max, std::string_view list) {
  if (rows > max) Refuse(list, " has ", rows, " rows: an order has at most ", max);
}

std::string IdIn(const ShownMembers& members) {
  const std::string id = members.Id("id").value_or("");
  return id.size() <= kIdMax ? id : "";
}

class Reader {
 public:
  Reader(json::Value record, const RecordContext& context)
      : members_(record), context_(context), decimals_(context.company.currency_decimals) {
    result_.order = orders::BlankOrder(context.company);
  }

  CloudRecord Read() && {
    ReadIdentity();
    ReadTimes();
    ReadTexts();
    ReadReferences();
    ReadState();
    ReadDelivery();
    ReadAllRows();
    ReadTotals();
    order().unknown_members = unknown_.All(members_);
    return std::move(result_);
  }

 private:
  Order& order() { return result_.order; }
  std::optional<Minor> Money(const ShownMembers& members, std::string_view name) const {
    return members.Money(name, decimals_);
  }
  // A word as this program uses it: nothing for one that is too long.
  std::optional<std::string> Word(std::string_view name) const {
    std::optional<std::string> word = members_.Text(name);
    if (word && word->size() > kWordMax) Refuse(name, " has ", word->size(), " bytes");
    return word;
  }

  void ReadIdentity() {
    result_.cloud_id = IdIn(members_);
    if (result_.cloud_id.empty()) Refuse("it has no id");
    const company::Company& company = context_.company;
    order().id = ParseId(result_.cloud_id)
                     .value_or(crypto::DerivedId(company.id, "cloud order " + result_.cloud_id));
    result_.cloud_public_id = Word("public_id");
    order().public_id = orders::NormalisedKey(result_.cloud_public_id.value_or("")).value_or("");
    if (ParseId(order().public_id)) order().public_id.clear();
    const std::optional<int64_t> number = members_.Integer("order_number");
    order().order_number = number && *number <= kOrderNumberMax ? *number : 0;
    order().reference = members_.Text("reference");
    if (order().reference && order().reference->size() > kReferenceMax) order().reference.reset();
    order().source = Word("source").value_or(std::string(orders::kApiSource));
    const std::optional<std::string> currency = members_.Text("currency");
    if (currency && !AsciiEqualsIgnoreCase(*currency, company.currency)) {
      Refuse("its currency is ", *currency, ", that of the company ", company.currency);
    }
    order().version = members_.Integer("version").value_or(0);
  }

  void ReadTimes() {
    order().updated_at = members_.Instant("updated_at").value_or(0);
    std::optional<UtcMs> made = members_.Instant("created_at");
    if (!made) made = members_.Instant("pending_at");
    order().created_at = made.value_or(0);
    const std::optional<std::string> day = members_.Text("business_day");
    if (day && ParseDay(*day)) order().business_day = day;
    order().scheduled_delivery_date = members_.Instant("scheduled_delivery_date");
    order().paid_at = members_.Instant("paid_at");
  }

  void ReadTexts() {
    order().comment = members_.Text("comment");
    order().order_title = members_.Text("order_title");
    order().delivery_comment = members_.Text("delivery_comment");
    for (const std::string_view name : kFieldNames) {
      if (members_.Any(name)) result_.fields.insert(name);
    }
    order().cancel_reason = members_.Text("cancel_reason");
    order().delivered_by = members_.Text("delivered_by");
  }

  // References

  std::optional<std::string> Here(Kind kind, const std::optional<std::string>& cloud_id) const {
    if (!cloud_id) return std::nullopt;
    std::optional<std::string> here = context_.find_here(kind, *cloud_id);
    return here ? here : ParseId(*cloud_id);
  }

  void ReadReferences() {
    Refer(Kind::kClient, "client_id", "client", order().client_id, order().client);
    Refer(Kind::kTable, "table_id", "table", order().table_id, order().table);
    Refer(Kind::kAddress, "address_id", "address", order().address_id, order().address);
  }

  void Refer(Kind kind, std::string_view id_name, std::string_view record_name,
             std::optional<std::string>& id, std::optional<std::string>& snapshot) const {
    const std::optional<ShownMembers> record = members_.Object(record_name);
    std::optional<std::string> cloud_id = members_.Id(id_name);
    if (!cloud_id && record) cloud_id = record->Id("id");
    id = Here(kind, cloud_id);
    if (record) snapshot = SnapshotOf(*record, id);
  }

  // The record as the cloud shows it, under the id of this box.
  static std::string SnapshotOf(const ShownMembers& record, const std::optional<std::string>& id) {
    std::string text;
    json::Writer out(text);
    out.BeginObject();
    out.Key("id").Text(id);
    for (const auto& [name, value] : record.value().members()) {
      if (name != "id") out.KeyOf(name).Raw(value.Canonical());
    }
    out.EndObject();
    return text;
  }

  // State

  void ReadState() {
    const std::optional<std::string> status = Word("status");
    if (!status) Refuse("it has no status");
    const std::optional<size_t> known = members_.OneOf("status", orders::kStatusNames);
    if (known) {
      order().status = static_cast<Status>(*known);
      order().unknown_status =
          members_.Text("foreign_status");  // of a Comanda that has a cloud itself
    } else if (AsciiEqualsIgnoreCase(*status, "CANCELED")) {
      order().status = Status::kCancelled;
    } else {
      order().unknown_status = status;
      order().status = FurthestReached();
    }
    ReadHistory();
    if (order().status == Status::kCancelled) {
      order().canceled_at = ReachedAt(order(), Status::kCancelled);
    }
    if (orders::IsClosed(order().status)) {
      order().closed_at = members_.Instant("closed_at").value_or(LastKnownTime());
    }
  }

  Status FurthestReached() const {
    for (size_t i = kReachedAt.size(); i-- > 0;) {
      if (members_.Instant(kReachedAt[i])) return static_cast<Status>(i);
    }
    return Status::kPending;
  }

  UtcMs LastKnownTime() {
    const auto& history = order().status_history;
    return history.empty() ? order().created_at : history.back().at;
  }

  // The history of the cloud where it shows one that leads to the status; else one made of the
  // times that it shows.
  void ReadHistory() {
    for (const json::Value& item :
         members_.Items("status_history").value_or(std::vector<json::Value>{})) {
      const ShownMembers change(item);
      if (result_.maker.empty()) result_.maker = change.Text("by").value_or("");
      const auto status = change.OneOf("status", orders::kStatusNames);
      const auto at = change.Instant("at");
      if (status && at) Append(static_cast<Status>(*status), *at, change.Boolean("implied"));
    }
    const auto& history = order().status_history;
    if (!history.empty() && history.back().status == order().status) return;
    order().status_history.clear();
    UtcMs last = order().created_at;
    for (size_t i = 0; i < kReachedAt.size(); ++i) {
      const auto status = static_cast<Status>(i);
      if (status > order().status) break;
      const std::optional<UtcMs> at = members_.Instant(kReachedAt[i]);
      // An order is cancelled from any status: those that are not shown were skipped.
      const bool is_skipped = order().status == Status::kCancelled && status != Status::kPending;
      if (!at && is_skipped && status != Status::kCancelled) continue;
      if (at) last = *at;
      if (!at && status == order().status && order().updated_at != 0) last = order().updated_at;
      Append(status, last, !at && status < order().status && status != Status::kPending);
    }
  }

  void Append(Status status, UtcMs at, std::optional<bool> implied) {
    auto& history = order().status_history;
    const bool is_next = history.empty() || status > history.back().status;
    if (!is_next || status > order().status || history.size() >= kHistoryMax) return;
    history.push_back({.status = status,
                       .at = at,
                       .by = std::string(kActor),
                       .implied = implied.value_or(false)});
  }

  void ReadDelivery() {
    order().service_type = ServiceType();
    const std::optional<size_t> status =
        members_.OneOf("delivery_status", orders::kDeliveryStatusNames);
    const std::optional<json::Value> shown = members_.Any("delivery_status");
    result_.shows.delivery_status = status || (shown && shown->is_null());
    if (status) order().delivery_status = static_cast<orders::DeliveryStatus>(*status);
    order().delivery_status_by_rider =
        order().delivery_status == orders::DeliveryStatus::kRiderAssigned;
    order().delivery_status_reason = members_.Text("delivery_status_reason");
    const std::optional<json::Value> rider = members_.Any(kRiderMember);
    result_.shows.rider = rider && (rider->is_null() || rider->kind() == json::Kind::kObject);
    if (const auto shown_rider = members_.Object(kRiderMember)) ReadRider(*shown_rider);
  }

  orders::ServiceType ServiceType() const {
    if (const auto known = members_.OneOf("service_type", orders::kServiceTypeNames)) {
      return static_cast<orders::ServiceType>(*known);
    }
    if (order_is_delivered()) return orders::ServiceType::kDelivery;
    return result_.order.table_id ? orders::ServiceType::kTable : orders::ServiceType::kOnsite;
  }
  bool order_is_delivered() const {
    return result_.order.address_id || members_.NonNull("delivery_status").has_value();
  }

  // A rider who is a user of the company there, but none here, is shown as an external one.
  void ReadRider(const ShownMembers& shown) {
    unknown_.Keep(Of::kRider, kRiderMember, shown);
    orders::Rider rider{.provider = "api",
                        .user_id = std::nullopt,
                        .name = shown.Text("name"),
                        .phone_number = shown.Text("phone_number"),
                        .country_calling_code = shown.Text("country_calling_code"),
                        .assigned_at = shown.Instant("assigned_at").value_or(0)};
    const std::optional<json::Value> user_id = shown.NonNull("user_id");
    const bool is_scalar =
        user_id && (user_id->kind() == json::Kind::kNumber || user_id->kind() == json::Kind::kText);
    if (is_scalar) rider.user_id = user_id->Canonical();
    if (shown.Text("provider") == context_.platform_there) {
      const std::optional<std::string> id = shown.Id("user_id");
      const auto here = id ? context_.find_here(Kind::kUser, *id) : std::nullopt;
      if (here) {
        rider.provider = context_.platform_here;
        json::AppendQuoted(rider.user_id.emplace(), *here);
      }
    }
    if (rider.user_id || rider.name || rider.phone_number) order().rider = std::move(rider);
  }

  // Rows

  // The id of a row: the cloud's where it is a UUID that no row before has, else one derived from
  // it, or from its position.
  std::string RowId(std::string_view kind, const ShownMembers& row, size_t index) {
    const std::string shown = IdIn(row);
    std::string id = ParseId(shown).value_or(
        shown.empty() ? "" : crypto::DerivedId(order().id, Concat({kind, " ", shown})));
    if (id.empty() || !row_ids_.insert(id).second) {
      id = crypto::DerivedId(order().id, Concat({kind, " at ", index}));
      row_ids_.insert(id);
    }
    return id;
  }

  UtcMs MadeAt(const ShownMembers& row) {
    return row.Instant("created_at").value_or(order().created_at);
  }

  // Any value but null and false says that the row is cancelled, also one that is no time.
  static std::optional<UtcMs> CancelledAt(const ShownMembers& row, UtcMs otherwise) {
    const std::optional<json::Value> shown = row.NonNull("canceled_at");
    if (!shown || row.Boolean("canceled_at") == false) return std::nullopt;
    return row.Instant("canceled_at").value_or(otherwise);
  }

  // `row_of`: makes a row of the order from what is shown, by its index.
  template <typename Row, typename RowOf>
  void ReadRows(std::string_view list, size_t max, Of of, bool& is_shown,
                std::vector<std::string>& cloud_ids, std::vector<Row>& rows, RowOf row_of) {
    const auto items = members_.Items(list);
    is_shown = items.has_value();
    if (!items) return;
    RequireCap(items->size(), max, list);
    for (size_t i = 0; i < items->size(); ++i) {
      const ShownMembers row((*items)[i]);
      cloud_ids.push_back(IdIn(row));
      rows.push_back(row_of(row, i));
      unknown_.Keep(of, rows.back().id, row);
    }
  }

  void ReadAllRows() {
    ReadRows("combos", orders::kCombosMax, Of::kCombo, result_.shows.combos, result_.combo_ids,
             order().combos, [&](const ShownMembers& row, size_t i) { return ComboOf(row, i); });
    ReadRows("payments", orders::kPaymentsMax, Of::kPayment, result_.shows.payments,
             result_.payment_ids, order().payments,
             [&](const ShownMembers& row, size_t i) { return PaymentOf(row, i); });
    ReadRows("discounts", orders::kDiscountsMax, Of::kDiscount, result_.shows.discounts,
             result_.discount_ids, order().discounts,
             [&](const ShownMembers& row, size_t i) { return DiscountOf(row, i); });
  }

  orders::Combo ComboOf(const ShownMembers& row, size_t index) {
    orders::Combo combo;
    combo.id = RowId("combo", row, index);
    combo.product_id = Here(Kind::kProduct, row.Id("product_id"));
    combo.variant_id = Here(Kind::kVariant, row.Id("variant_id"));
    combo.product_name = row.Text("product_name").value_or("");
    combo.product_category_name = row.Text("product_category_name");
    combo.variant_name = row.Text("variant_name");
    if (const auto sku = row.Text("sku")) combo.sku = TrimmedCode(*sku);
    combo.comment = row.Text("comment");
    combo.kitchen_id = row.Id("kitchen_id");
    combo.quantity = QuantityOf(row);
    combo.created_at = MadeAt(row);
    combo.canceled_at = CancelledAt(row, combo.created_at);
    ReadModifiers(row, combo);
    ReadPrices(row, combo);
    return combo;
  }

  static int64_t QuantityOf(const ShownMembers& row) {
    return row.Number("quantity", orders::kQuantityDecimals, kQuantityMax)
        .value_or(orders::kOneInThousandths);
  }

  void ReadModifiers(const ShownMembers& row, orders::Combo& combo) {
    const auto items = row.Items("modifiers").value_or(std::vector<json::Value>{});
    RequireCap(items.size(), orders::kModifiersMax, "modifiers");
    for (size_t i = 0; i < items.size(); ++i) {
      const ShownMembers shown(items[i]);
      orders::Modifier modifier;
      modifier.id = RowId(Concat({"modifier of ", combo.id}), shown, i);
      unknown_.Keep(Of::kModifier, modifier.id, shown);
      modifier.modifier_id = Here(Kind::kModifier, shown.Id("modifier_id"));
      modifier.group_name = shown.Text("group_name");
      modifier.name = shown.Text("name").value_or("");
      modifier.quantity = QuantityOf(shown);
      modifier.price = Money(shown, "price").value_or(0);
      modifier.original_price = Money(shown, "original_price").value_or(modifier.price);
      combo.modifiers.push_back(std::move(modifier));
    }
  }

  void ReadPrices(const ShownMembers& row, orders::Combo& combo) const {
    const orders::ShownPrices shown = {
        .combo_price = Money(row, "combo_price"),
        .modifiers_price = Money(row, "modifiers_price"),
        .variant_price = Money(row, "variant_price"),
        .variant_original_price = Money(row, "variant_original_price"),
        .combo_original_price = Money(row, "combo_original_price")};
    if (!orders::PriceAsShown(combo, shown, decimals_)) {
      Refuse("an item costs more than an order may");
    }
  }

  orders::Payment PaymentOf(const ShownMembers& row, size_t index) {
    orders::Payment payment;
    payment.id = RowId("payment", row, index);
    payment.method = MethodOf(row);
    const std::optional<Minor> amount = Money(row, "amount");
    payment.amount = amount ? *amount : Money(row, "bill_amount").value_or(0);
    payment.tip_amount = Money(row, "tip_amount").value_or(0);
    payment.received_amount = Money(row, "received_amount");
    payment.reference = row.Text("reference");
    payment.comment = row.Text("comment");
    payment.created_at = MadeAt(row);
    payment.canceled_at = CancelledAt(row, payment.created_at);
    return payment;
  }

  orders::PaidWith MethodOf(const ShownMembers& row) const {
    const std::optional<ShownMembers> method = row.Object("payment_method");
    const auto text = [&](std::string_view of_method, std::string_view of_row) {
      std::optional<std::string> found = method ? method->Id(of_method) : std::nullopt;
      return found ? found : row.Id(of_row);
    };
    const std::optional<std::string> id = text("id", "payment_method_id");
    const std::string code = text("code", "payment_method_code").value_or("");
    return {.id = Here(Kind::kPaymentMethod, id).value_or(id.value_or("")),
            .code = code,
            .description = text("description", "payment_method_description").value_or(code)};
  }

  // A discount of an unknown type is one of its effect.
  orders::Discount DiscountOf(const ShownMembers& row, size_t index) {
    orders::Discount discount;
    discount.id = RowId("discount", row, index);
    const std::optional<size_t> type = row.OneOf("type", orders::kDiscountTypeNames);
    if (type) discount.type = static_cast<orders::DiscountType>(*type);
    const bool is_percentage = discount.type == orders::DiscountType::kPercentage;
    std::optional<int64_t> value;
    if (is_percentage) value = row.Number("value", orders::kPercentageDecimals, kPercentageMax);
    if (type && !is_percentage) value = Money(row, "value");
    if (!value) {
      discount.type = orders::DiscountType::kAmount;
      value = Money(row, "amount");
    }
    discount.value = value.value_or(0);
    discount.reason = row.Text("reason");
    discount.created_at = MadeAt(row);
    discount_amounts_.push_back(Money(row, "amount"));
    return discount;
  }

  // Totals

  void ReadTotals() {
    order().delivery_price = Money(members_, "delivery_price").value_or(0);
    order().packaging_price = Money(members_, "packaging_price").value_or(0);
    order().service_fee_price = Money(members_, "service_fee_price").value_or(0);
    const orders::ShownTotals shown = {.subtotal = Money(members_, "subtotal"),
                                       .total_discounts = Money(members_, "total_discounts"),
                                       .total = Money(members_, "total"),
                                       .total_tips = Money(members_, "total_tips"),
                                       .total_paid = Money(members_, "total_paid"),
                                       .paid = members_.Boolean("paid"),
                                       .discount_amounts = std::move(discount_amounts_)};
    if (!orders::PriceAsShown(order(), shown)) Refuse("its sums are more than an order may have");
    orders::Shown& shows = result_.shows;
    shows.total = shown.total || (shows.combos && shows.discounts);
    shows.total_paid = shown.total_paid || shows.payments;
  }

  const ShownMembers members_;
  const RecordContext& context_;
  const int decimals_;
  CloudRecord result_;
  std::set<std::string> row_ids_;
  UnknownMembers unknown_;
  std::vector<std::optional<Minor>> discount_amounts_;
};

}  // namespace

CloudRecord ReadCloudRecord(json::Value record, const RecordContext& context) {
  return Reader(record, context).Read();
}

std::string CloudIdOf(json::Value record) { return IdIn(ShownMembers(record)); }

}  // namespace comanda::cloud
