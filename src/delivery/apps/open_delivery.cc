#include <algorithm>
#include <array>

#include "base/concat.h"
#include "delivery/orders/amounts.h"
#include "delivery/apps/apps.h"
#include "delivery/apps/queue.h"
#include "delivery/orders/order_reading.h"
#include "delivery/status/rules.h"
#include "json/reader.h"
#include "json/writer.h"
#include "wire/percent.h"

namespace comanda::delivery {
namespace {

constexpr size_t kAcknowledgedAtOnce = 100;
constexpr int kUnprocessable = 422;  // the order is in that state already
// Options had a `price` before version 1.2.1.
constexpr OrderNames kNames = {.type = "type",
                               .line_comment = "specialInstructions",
                               .option_price = {"totalPrice", "price"},
                               .discounts = "discounts",
                               .discount_amount = "amount",
                               .total_discount = "total.discount",
                               .street = "street",
                               .street_number = "number",
                               .area = "district",
                               .extension = "extension",
                               .extension_label = "ext",
                               .scheduled_for = "schedule.scheduledDateTimeStart"};

struct TypeRow {
  std::string_view type;
  News news;
};
constexpr std::array kTypes = {
    TypeRow{"CREATED", News::kPlaced},
    TypeRow{"CONFIRMED", News::kConfirmed},
    TypeRow{"PREPARATION_REQUESTED", News::kInPreparation},
    TypeRow{"PREPARING", News::kInPreparation},
    TypeRow{"READY_FOR_PICKUP", News::kReady},
    TypeRow{"DISPATCHED", News::kOnTheWay},
    TypeRow{"PICKED_UP", News::kDelivered},
    TypeRow{"DELIVERED", News::kDelivered},
    TypeRow{"CONCLUDED", News::kConcluded},
    TypeRow{"CANCELLED", News::kCancelled},
};

News NewsOf(std::string_view type) {
  const auto row = std::ranges::find(kTypes, type, &TypeRow::type);
  return row == kTypes.end() ? News::kOther : row->news;
}

// The forms in which the fees are told: each of them, those that are not the app's own, their sum,
// none.
std::vector<Fees> FeesOf(const OrderReading& order) {
  Fees listed, of_merchant;
  const auto fees = order.Items("otherFees");
  for (const OrderReading& fee : fees) {
    const Minor price = fee.Money("price");
    const bool is_delivery = fee.Text("type") == "DELIVERY_FEE";
    (is_delivery ? listed.delivery : listed.other) += price;
    if (fee.Text("receivedBy") == "MARKETPLACE") continue;
    (is_delivery ? of_merchant.delivery : of_merchant.other) += price;
  }
  const Minor sum = order.Money("total.otherFees");
  const Minor delivery = std::min(listed.delivery, sum);
  const Fees in_one = {delivery, sum - delivery};
  if (fees.empty()) return {in_one, {}};
  return {listed, of_merchant, in_one, {}};
}

class OpenDelivery : public OrderSource {
 public:
  Capabilities capabilities() const override { return {}; }

  // Of the store alone where the account names it: credentials may be those of many.
  OrderCall Poll(const Variables& account, bool) const override {
    OrderCall call{.path = "/v1/events:polling"};
    const std::string merchant = ValueOf(account, "merchant_id");
    if (!merchant.empty()) call.headers.push_back(Concat({"x-polling-merchants: ", merchant}));
    return call;
  }

  std::optional<Report> Read(const Variables&, const json::Value& answer) const override {
    return ReadQueue(answer, [](const OrderReading& event) {
      const std::string type = event.RequireText("eventType");
      const auto id = event.Text({"eventId", "id"});  // some name it as an acknowledgement does
      if (!id) event.Fail("eventId", "is missing");
      return AppEvent{.id = *id,
                      .external_id = event.Text("orderId").value_or(""),
                      .news = NewsOf(type),
                      .at = event.Instant("createdAt").value_or(0),
                      .words = event.Text("metadata.reason").value_or("")};
    });
  }

  std::vector<OrderCall> Acknowledge(const std::vector<AppEvent>& events) const override {
    return AcknowledgeQueue(events, "/v1/events/acknowledgment", kAcknowledgedAtOnce,
                            [](json::Writer& out, const AppEvent& event) {
                              const json::Document raw = json::Document::Parse(event.raw);
                              const OrderReading reading(raw.root(), "", 0);
                              out.Key("id").Text(event.id);
                              out.Key("orderId").Text(event.external_id);
                              out.Key("eventType").Text(reading.RequireText("eventType"));
                            });
  }

  OrderCall Details(const Variables&, std::string_view external_id) const override {
    return {.path = Concat({"/v1/orders/", wire::PercentEncoded(external_id)})};
  }

  AppOrder Map(const json::Value& details, std::string_view currency,
               int currency_decimals) const override {
    OrderReading::Unread unread;
    const OrderReading order(details, currency, currency_decimals, &unread);
    AppOrder mapped = ReadOrder(order, kNames);
    ChooseAmounts(mapped, FeesOf(order), DiscountsOf(order, kNames));
    mapped.unread = std::move(unread);
    return mapped;
  }

  std::optional<OrderCall> Tell(const Variables&, const OrderCommand& command) const override {
    static constexpr std::array<std::string_view, 4> kWords = {"confirm", "preparing",
                                                               "readyForPickup", "dispatch"};
    if (command.kind == CommandKind::kPrepare)
      return std::nullopt;  // apps say whether they want it
    if (command.kind == CommandKind::kDispatch && !command.is_delivered_here) return std::nullopt;
    OrderCall call{.method = "POST",
                   .path = Concat({"/v1/orders/", wire::PercentEncoded(command.external_id), "/",
                                   kWords[static_cast<size_t>(command.kind)]})};
    if (command.kind == CommandKind::kConfirm) {
      json::Writer out(call.json);
      out.BeginObject();
      out.Key("createdAt").Instant(command.received_at);
      out.Key("orderExternalCode").Text(command.order_id);
      out.EndObject();
    }
    return call;
  }

  bool IsDoneAlready(int status, std::string_view) const override {
    return status == kUnprocessable;
  }
};

class Keeta final : public OpenDelivery {
 public:
  // Two polls a minute are allowed for each token.
  Capabilities capabilities() const override {
    return {.accept_within_s = 5 * 60, .poll_every_s = 31};
  }

  std::optional<OrderCall> AskPlainTexts(const json::Value& details) const override {
    const std::vector<std::string> texts = EncryptedTexts(details);
    if (texts.empty()) return std::nullopt;
    OrderCall call{.method = "POST", .path = "/v1/batchDecrypt"};
    json::Writer out(call.json);
    out.BeginObject();
    out.Key("cipherInfos").BeginArray();
    for (const std::string& text : texts) {
      out.BeginObject();
      out.Key("cipherText").Text(text);
      out.EndObject();
    }
    out.EndArray();
    out.EndObject();
    return call;
  }

  std::string WithPlainTexts(const json::Value& details, const json::Value& answer) const override {
    std::string text = details.Canonical();
    const auto infos =
        answer.kind() == json::Kind::kObject ? answer.Find("plainInfos") : std::nullopt;
    if (!infos || infos->kind() != json::Kind::kArray) return text;
    for (const json::Value& item : infos->items()) {
      const OrderReading info(item, "", 0);
      const auto encrypted = info.Text("cipherText"), plain = info.Text("plainText");
      if (!encrypted || !IsEncrypted(*encrypted) || !plain) continue;
      ReplaceTexts(text, Quoted(*encrypted), Quoted(*plain));
    }
    return text;
  }

 private:
  // In canonical JSON, where a name is followed by a colon and nothing else is.
  static void ReplaceTexts(std::string& json, std::string_view from, std::string_view to) {
    size_t at = json.find(from);
    while (at != json.npos) {
      const bool is_name = json.substr(at + from.size(), 1) == ":";
      if (!is_name) json.replace(at, from.size(), to);
      at = json.find(from, at + (is_name ? from : to).size());
    }
  }

  static std::string Quoted(std::string_view text) { return Concat({"\"", InJson(text), "\""}); }

  static std::vector<std::string> EncryptedTexts(const json::Value& details) {
    const OrderReading order(details, "", 0);
    std::vector<std::string> texts;
    for (const std::string_view path :
         {"customer.name", "customer.phone.number", "delivery.deliveryAddress.formattedAddress",
          "delivery.deliveryAddress.street", "delivery.deliveryAddress.number",
          "delivery.deliveryAddress.district", "delivery.deliveryAddress.complement",
          "delivery.deliveryAddress.reference"}) {
      if (auto text = order.Text(path); text && IsEncrypted(*text)) {
        texts.push_back(*std::move(text));
      }
    }
    return texts;
  }
};

}  // namespace

const OrderSource& OpenDeliverySource() {
  static const OpenDelivery source;
  return source;
}

const OrderSource& KeetaSource() {
  static const Keeta source;
  return source;
}

}  // namespace comanda::delivery
