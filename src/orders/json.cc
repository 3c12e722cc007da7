#include "orders/json.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/decimal.h"
#include "base/id.h"
#include "base/text.h"
#include "json/writer.h"
#include "orders/foreign_fields.h"
#include "orders/lifecycle.h"
#include "orders/pricing.h"

namespace comanda::orders {
namespace {

using json::ObjectReader;
using json::TextRule;

constexpr TextRule kNameRule = {.max = 200, .is_name = true};
constexpr TextRule kTitleRule = {.max = 200};
constexpr TextRule kSkuRule = {.max = 100, .card_numbers_refused = false, .is_code = true};
constexpr TextRule kIdRule = {.max = 200, .card_numbers_refused = false};
constexpr TextRule kPhoneRule = {.max = 32, .card_numbers_refused = false};
constexpr TextRule kCommentRule = {.max = kCommentMax};
constexpr TextRule kReasonRule = {.max = 200};
constexpr TextRule kLongReasonRule = {.max = 500};
constexpr TextRule kPaymentReferenceRule = {.max = 255, .is_reference = true};
constexpr TextRule kWordRule = {.max = 100, .card_numbers_refused = false};

void Finish(ObjectReader& reader) {
  reader.Finish();
  reader.errors().ThrowIfAny();
}

template <typename Names>
std::vector<std::string_view> Words(const Names& names) {
  return {names.begin(), names.end()};
}

// The index of a required field's value in the list of words.
std::optional<size_t> RequireOneOf(ObjectReader& reader, std::string_view name,
                                   const std::vector<std::string_view>& words,
                                   std::string_view hint = "") {
  if (!reader.RequireText(name, kWordRule)) return std::nullopt;
  return reader.OneOf(name, words, hint);
}

// Fields

template <typename T>
Setting<T> Cleared() {
  return Setting<T>(std::in_place, std::nullopt);
}

Setting<std::string> ReadClearableText(ObjectReader& reader, std::string_view name, TextRule rule) {
  if (reader.IsNull(name)) return Cleared<std::string>();
  std::optional<std::string> text = reader.Text(name, rule);
  if (!text) return std::nullopt;
  return Setting<std::string>(std::in_place, std::move(text));
}

// What to do with a scheduled date in the past. A PATCH may repeat the date that the order has.
enum class PastDate : uint8_t { kRefused, kJudgedLater };

void ReadSchedule(ObjectReader& reader, UtcMs now, PastDate past, FieldsDraft& draft) {
  constexpr std::string_view kName = "scheduled_delivery_date";
  if (reader.IsNull(kName)) {
    draft.scheduled_delivery_date = Cleared<UtcMs>();
    return;
  }
  const std::optional<UtcMs> date = reader.Instant(kName);
  if (!date) return;
  draft.scheduled_delivery_date = Setting<UtcMs>(std::in_place, date);
  if (*date >= now) return;
  if (past == PastDate::kRefused) {
    reader.Fail(kName, FieldCode::kOutOfRange, PastDateMessage(now));
  } else {
    draft.past_date_judged_at = now;
  }
}

FieldsDraft ReadFieldsOf(ObjectReader& reader, int decimals, UtcMs now,
                         PastDate past = PastDate::kRefused) {
  FieldsDraft draft;
  draft.comment = reader.Text("comment", kCommentRule);
  draft.order_title = ReadClearableText(reader, "order_title", kTitleRule);
  draft.delivery_comment = ReadClearableText(reader, "delivery_comment", kCommentRule);
  ReadSchedule(reader, now, past, draft);
  draft.delivery_price = reader.Money("delivery_price", decimals);
  draft.packaging_price = reader.Money("packaging_price", decimals);
  return draft;
}

void RefuseForOtherServiceTypes(ObjectReader& reader, ServiceType type) {
  if (type != ServiceType::kTable && reader.HasValue("table_id")) {
    reader.Fail("table_id", FieldCode::kNotAllowed,
                "is for TABLE orders only: leave it out or send service_type TABLE");
  }
  if (type == ServiceType::kDelivery) return;
  for (const std::string_view name : {"address_id", "delivery_price", "delivery_comment"}) {
    if (!reader.HasValue(name)) continue;
    reader.Fail(name, FieldCode::kNotAllowed,
                "is for DELIVERY orders only: leave it out or send service_type DELIVERY");
  }
}

// Combos

constexpr json::NumberRule kItemQuantity = {
    .decimals = kQuantityDecimals, .min = 1, .max = 9999 * kOneInThousandths};
constexpr json::NumberRule kModifierQuantity = {.decimals = 0, .min = 1, .max = 999};

Minor ReadLineTotal(ObjectReader& line, std::string_view field, Minor unit_price,
                    int64_t quantity_thousandths, int decimals) {
  const std::optional<Minor> total = LineTotal(unit_price, quantity_thousandths, decimals);
  if (total) return *total;
  std::string most;
  AppendScaled(most, MoneyMax(decimals), decimals);
  line.Fail(field, FieldCode::kOutOfRange,
            "times the quantity is too much: the price of a line is at most " + most);
  return 0;
}

// The price charged and the list price, which defaults to it: per unit as sent, and per line.
struct LinePrices {
  Minor unit_price = 0;
  Minor original_unit_price = 0;
  Minor price = 0;
  Minor original_price = 0;
};

LinePrices ReadPrices(ObjectReader& line, std::string_view price_field,
                      std::string_view original_field, int64_t quantity_thousandths, int decimals) {
  LinePrices prices;
  prices.unit_price = line.RequireMoney(price_field, decimals).value_or(0);
  const std::optional<Minor> original = line.Money(original_field, decimals);
  prices.original_unit_price = original.value_or(prices.unit_price);
  prices.price =
      ReadLineTotal(line, price_field, prices.unit_price, quantity_thousandths, decimals);
  prices.original_price = prices.price;
  if (original) {
    prices.original_price =
        ReadLineTotal(line, original_field, *original, quantity_thousandths, decimals);
  }
  return prices;
}

Modifier ReadModifier(ObjectReader& line, int64_t item_quantity, int decimals) {
  const size_t errors_before = line.errors().size();
  Modifier modifier;
  modifier.modifier_id = line.Uuid("modifier_id");
  modifier.group_name = line.Text("group_name", kNameRule);
  modifier.name = line.Text("name", kNameRule).value_or("");
  if (!line.HasValue("modifier_id")) line.RequireText("name", kNameRule);
  modifier.unit_quantity = line.Number("quantity", kModifierQuantity).value_or(1);
  modifier.quantity = modifier.unit_quantity * item_quantity;
  const LinePrices prices =
      ReadPrices(line, "price", "original_price", modifier.quantity, decimals);
  modifier.unit_price = prices.unit_price;
  modifier.original_unit_price = prices.original_unit_price;
  modifier.price = prices.price;
  modifier.original_price = prices.original_price;
  const bool is_right = line.errors().size() == errors_before;
  RefuseMoneyOfModifier(line, is_right ? std::optional(modifier.price) : std::nullopt, decimals);
  line.Finish();
  return modifier;
}

bool LinksToMenu(ObjectReader& item) {
  return item.HasValue("product_id") || item.HasValue("variant_id") || item.HasValue("sku");
}

Combo ReadCombo(ObjectReader& item, int decimals) {
  const size_t errors_before = item.errors().size();
  Combo combo;
  combo.product_id = item.Uuid("product_id");
  combo.variant_id = item.Uuid("variant_id");
  combo.sku = item.Text("sku", kSkuRule);
  if (LinksToMenu(item)) {
    combo.product_name = item.Text("product_name", kNameRule).value_or("");
  } else {
    combo.product_name = item.RequireText("product_name", kNameRule).value_or("");
  }
  combo.variant_name = item.Text("variant_name", kNameRule);
  combo.quantity = item.RequireNumber("quantity", kItemQuantity).value_or(0);
  const LinePrices prices =
      ReadPrices(item, "variant_price", "variant_original_price", combo.quantity, decimals);
  combo.variant_unit_price = prices.unit_price;
  combo.variant_original_unit_price = prices.original_unit_price;
  combo.variant_price = prices.price;
  combo.variant_original_price = prices.original_price;
  combo.comment = item.Text("comment", kCommentRule);
  for (ObjectReader& modifier : item.Objects("modifiers", kModifiersMax, true)) {
    combo.modifiers.push_back(ReadModifier(modifier, combo.quantity, decimals));
  }
  if (!SumUp(combo, decimals)) {
    item.Fail("modifiers", FieldCode::kOutOfRange,
              "make the line's price too large together with variant_price: lower the prices or "
              "the quantities");
  }
  const bool is_right = item.errors().size() == errors_before;
  RefuseMoneyOfItem(item, is_right ? std::optional(combo.combo_price) : std::nullopt, decimals);
  item.Finish();
  return combo;
}

// Payments

// `amount` or `bill_amount`, which are two names of one field. If both are sent, they must be
// equal.
std::optional<Minor> ReadAmount(ObjectReader& reader, int decimals) {
  const std::optional<Minor> amount = reader.Money("amount", decimals);
  const std::optional<Minor> bill_amount = reader.Money("bill_amount", decimals);
  if (amount && bill_amount && *amount != *bill_amount) {
    reader.Fail("bill_amount", FieldCode::kNotAllowed,
                "is another name of amount and differs from it: send one of the two");
  }
  if (!reader.Raw("amount") && !reader.Raw("bill_amount")) reader.RequireMoney("amount", decimals);
  return amount ? amount : bill_amount;
}

void CheckAmounts(ObjectReader& reader, const PaymentDraft& draft, int decimals) {
  const Payment& payment = draft.payment;
  const Minor handed = payment.amount + payment.tip_amount;  // cannot overflow (base/money.h)
  if (handed == 0) {
    reader.Fail(draft.amount_field, FieldCode::kMustBePositive,
                "must be above 0, together with tip_amount");
  }
  if (handed > MoneyMax(decimals)) {
    reader.Fail("tip_amount", FieldCode::kOutOfRange,
                "is too large together with " + std::string(draft.amount_field));
  }
  if (payment.received_amount && *payment.received_amount < handed) {
    std::string least;
    AppendScaled(least, handed, decimals);
    reader.Fail("received_amount", FieldCode::kOutOfRange,
                "is less than " + std::string(draft.amount_field) +
                    " and tip_amount together: send " + least + " or more");
  }
}

// Riders

bool IsWhole(std::string_view number) {
  const std::optional<Decimal> decimal = ParseDecimal(number);
  if (decimal) return decimal->scale == 0;
  if (number.starts_with('-')) number.remove_prefix(1);
  return number.find_first_not_of("0123456789") == std::string_view::npos;
}

// Keeps the user_id, a text or an integer, as the JSON that was sent.
void ReadRiderUser(ObjectReader& reader, RiderDraft& draft) {
  if (!reader.HasValue("user_id")) return;
  const std::optional<json::Value> sent = reader.Raw("user_id");
  if (sent->kind() == json::Kind::kNumber && IsWhole(sent->number_text())) {
    draft.rider.user_id = std::string(sent->number_text());
  } else if (sent->kind() == json::Kind::kText) {
    const std::optional<std::string> text = reader.Text("user_id", kIdRule);
    if (!text) return;
    draft.user_uuid = ParseId(*text);
    json::AppendQuoted(draft.rider.user_id.emplace(), *text);
  } else {
    reader.Fail("user_id", FieldCode::kWrongType, "must be a text or an integer");
  }
}

void RequireRiderUser(ObjectReader& reader, const RiderDraft& draft) {
  if (reader.HasValue("user_id")) return;
  if (draft.kind == RiderProvider::kPlatform) {
    reader.RequireText("user_id");
  } else if (!reader.HasValue("name")) {
    reader.Fail("user_id", FieldCode::kRequired,
                "is required where no name is sent: send one of the two");
  }
}

// Status

struct StatusHint {
  std::string_view word;
  std::string_view hint;
};
constexpr std::array kStatusHints = {
    StatusHint{"ACCEPTED", "an order is accepted by moving it to PREPARING"},
    StatusHint{"REJECTED", "an order is rejected with POST /v1/orders/{id}/cancel and a reason"},
    StatusHint{"CANCELED", "an order is cancelled with POST /v1/orders/{id}/cancel and a reason"},
};

std::string_view HintFor(std::string_view word) {
  for (const StatusHint& row : kStatusHints) {
    if (AsciiEqualsIgnoreCase(row.word, word)) return row.hint;
  }
  return "";
}

std::string_view TextOrNone(std::optional<json::Value> value) {
  return value && value->kind() == json::Kind::kText ? value->text() : std::string_view();
}

}  // namespace

std::string PastDateMessage(UtcMs now) {
  return "lies in the past: send a time after " + FormatInstant(now);
}

OrderDraft ReadOrder(Body body, int decimals, UtcMs now) {
  json::Errors errors;
  ObjectReader reader(body.document.root(), "", errors, body.unknown_fields);
  OrderDraft draft;
  const auto type = RequireOneOf(reader, "service_type", Words(kServiceTypeNames));
  draft.client_id = reader.Uuid("client_id");
  draft.table_id = reader.Uuid("table_id");
  draft.address_id = reader.Uuid("address_id");
  draft.fields = ReadFieldsOf(reader, decimals, now);
  if (type) {
    draft.service_type = static_cast<ServiceType>(*type);
    RefuseForOtherServiceTypes(reader, draft.service_type);
  }
  RefuseOfOtherEndpoints(reader);
  Finish(reader);
  return draft;
}

FieldsDraft ReadFields(Body body, int decimals, UtcMs now) {
  json::Errors errors;
  ObjectReader reader(body.document.root(), "", errors, body.unknown_fields);
  const FieldsDraft draft = ReadFieldsOf(reader, decimals, now, PastDate::kJudgedLater);
  RefuseOfOtherEndpoints(reader);
  RefuseOfPlacing(reader);
  reader.Finish();
  if (errors.empty() && draft == FieldsDraft{}) {
    errors.Add("body", FieldCode::kEmpty,
               "must have at least one of comment, order_title, delivery_comment, delivery_price, "
               "packaging_price, scheduled_delivery_date" +
                   reader.NearMiss());
  }
  errors.ThrowIfAny();
  return draft;
}

std::vector<Combo> ReadCombos(Body body, int decimals) {
  json::Errors errors;
  ObjectReader reader(body.document.root(), "", errors, body.unknown_fields);
  std::vector<Combo> combos;
  for (ObjectReader& item : reader.RequireObjects("combos", kCombosPerCallMax)) {
    combos.push_back(ReadCombo(item, decimals));
  }
  RefuseBesideRows(reader, "combos");
  Finish(reader);
  return combos;
}

PaymentDraft ReadPayment(Body body, int decimals) {
  json::Errors errors;
  ObjectReader reader(body.document.root(), "", errors, body.unknown_fields);
  PaymentDraft draft;
  draft.method_id = reader.Uuid("payment_method_id");
  draft.method_code = reader.Text("payment_method_code", kWordRule);
  if (!reader.HasValue("payment_method_id") && !reader.HasValue("payment_method_code")) {
    reader.Fail("payment_method_id", FieldCode::kRequired,
                "is required where no payment_method_code is sent: send one of the two");
  }
  Payment& payment = draft.payment;
  const std::optional<Minor> amount = ReadAmount(reader, decimals);
  payment.amount = amount.value_or(0);
  payment.tip_amount = reader.Money("tip_amount", decimals).value_or(0);
  payment.received_amount = reader.Money("received_amount", decimals);
  payment.reference = reader.Text("reference", kPaymentReferenceRule);
  payment.comment = reader.Text("comment", kCommentRule);
  if (!reader.Raw("amount") && reader.Raw("bill_amount")) draft.amount_field = "bill_amount";
  if (amount) CheckAmounts(reader, draft, decimals);
  const std::optional<Minor> with_tip =
      amount ? std::optional(*amount + payment.tip_amount) : std::nullopt;
  RefuseMoneyOfPayment(reader, amount, with_tip, decimals);
  RefuseBesideRows(reader, "");
  Finish(reader);
  return draft;
}

Discount ReadDiscount(Body body, int decimals) {
  json::Errors errors;
  ObjectReader reader(body.document.root(), "", errors, body.unknown_fields);
  Discount discount;
  const auto type = RequireOneOf(reader, "type", Words(kDiscountTypeNames));
  if (type) discount.type = static_cast<DiscountType>(*type);
  if (discount.type == DiscountType::kPercentage) {
    constexpr json::NumberRule kPercentage = {
        .decimals = kPercentageDecimals, .min = 1, .max = 1'000'000};
    discount.value = reader.RequireNumber("value", kPercentage).value_or(0);
  } else {
    discount.value = reader.RequireMoney("value", decimals, true).value_or(0);
  }
  discount.reason = reader.Text("reason", kReasonRule);
  RefuseBesideRows(reader, "");
  Finish(reader);
  return discount;
}

Status ReadStatus(Body body) {
  json::Errors errors;
  ObjectReader reader(body.document.root(), "", errors, body.unknown_fields);
  const std::string_view sent = TextOrNone(reader.Raw("status"));
  if (sent == Name(Status::kCancelled)) {
    throw Refusal(
        Problem::kUseCancelEndpoint,
        "an order is cancelled with POST /v1/orders/{id}/cancel and a reason, not with its "
        "status");
  }
  std::vector<std::string_view> words;
  for (const Status status : kLife) words.push_back(Name(status));
  const auto status = RequireOneOf(reader, "status", words, HintFor(sent));
  Finish(reader);
  return kLife[*status];
}

std::string ReadCancelReason(Body body) {
  json::Errors errors;
  ObjectReader reader(body.document.root(), "", errors, body.unknown_fields);
  const std::optional<std::string> reason = reader.RequireText("reason", kLongReasonRule);
  Finish(reader);
  return *reason;
}

RiderDraft ReadRider(Body body, std::string_view platform_name) {
  json::Errors errors;
  ObjectReader reader(body.document.root(), "", errors, body.unknown_fields);
  RiderDraft draft;
  const std::vector<std::string_view> providers = {"api", platform_name};
  const size_t provider = reader.OneOf("provider", providers).value_or(0);
  draft.kind = provider == 0 ? RiderProvider::kApi : RiderProvider::kPlatform;
  draft.rider.provider = providers[provider];
  ReadRiderUser(reader, draft);
  draft.rider.name = reader.Text("name", kNameRule);
  draft.rider.phone_number = reader.Text("phone_number", kPhoneRule);
  draft.rider.country_calling_code = reader.Text("country_calling_code", kPhoneRule);
  RequireRiderUser(reader, draft);
  Finish(reader);
  return draft;
}

DeliveryReport ReadDeliveryReport(Body body) {
  json::Errors errors;
  ObjectReader reader(body.document.root(), "", errors, body.unknown_fields);
  DeliveryReport report;
  const auto status = RequireOneOf(reader, "delivery_status", Words(kDeliveryStatusNames));
  if (status) report.status = static_cast<DeliveryStatus>(*status);
  report.reason = ReadClearableText(reader, "reason", kLongReasonRule);
  if (status && report.status != DeliveryStatus::kNotDelivered && reader.HasValue("reason")) {
    reader.Fail("reason", FieldCode::kNotAllowed,
                "is for NOT_DELIVERED only: leave it out with any other delivery_status");
  }
  Finish(reader);
  return report;
}

}  // namespace comanda::orders
