#include <array>

#include "base/concat.h"
#include "delivery/orders/amounts.h"
#include "delivery/apps/apps.h"
#include "delivery/apps/queue.h"
#include "delivery/orders/order_reading.h"
#include "json/writer.h"
#include "wire/percent.h"

namespace comanda::delivery {
namespace {

constexpr size_t kAcknowledgedAtOnce = 2'000;
constexpr OrderNames kNames = {.type = "orderType",
                               .line_comment = "observations",
                               .option_price = {"price"},
                               .discounts = "benefits",
                               .discount_amount = "value",
                               .total_discount = "total.benefits",
                               .street = "streetName",
                               .street_number = "streetNumber",
                               .area = "neighborhood",
                               .extension = "localizer",
                               .extension_label = "ID",
                               .scheduled_for = "schedule.deliveryDateTimeStart"};

struct Code {
  std::string_view code, full_code;
  News news;
};
// Either name; every other event is of no consequence here.
constexpr std::array kCodes = {
    Code{"PLC", "PLACED", News::kPlaced},
    Code{"CFM", "CONFIRMED", News::kConfirmed},
    Code{"PRS", "PREPARATION_STARTED", News::kInPreparation},
    Code{"SPS", "SEPARATION_STARTED", News::kInPreparation},
    Code{"SPE", "SEPARATION_ENDED", News::kInPreparation},
    Code{"RTP", "READY_TO_PICKUP", News::kReady},
    Code{"DSP", "DISPATCHED", News::kOnTheWay},
    Code{"CLT", "COLLECTED", News::kOnTheWay},
    Code{"CON", "CONCLUDED", News::kConcluded},
    Code{"CAN", "CANCELLED", News::kCancelled},
};

News NewsOf(const OrderReading& event) {
  const std::string code = event.Text("code").value_or("");
  const std::string full_code = event.Text("fullCode").value_or("");
  for (const Code& row : kCodes) {
    if (row.code == code || row.full_code == full_code || row.full_code == code) return row.news;
  }
  return News::kOther;
}

// The members of `metadata` that say why an order was cancelled have changed over time.
std::string WordsOf(const OrderReading& event) {
  for (const std::string_view name :
       {"metadata.details", "metadata.reason", "metadata.CANCEL_REASON", "metadata.description",
        "metadata.cancelCodeDescription", "metadata.CANCEL_CODE", "metadata.reason_code"}) {
    if (auto words = event.Text(name)) return *std::move(words);
  }
  return "";
}

// The forms in which the fees are told: the sum of those beside the delivery, each of them, none.
std::vector<Fees> FeesOf(const OrderReading& order) {
  const Minor delivery = order.Money("total.deliveryFee");
  Minor listed = 0;
  for (const OrderReading& fee : order.Items("additionalFees")) listed += fee.Money("value");
  const Minor other = order.MoneyIf("total.additionalFees").value_or(listed);
  return {{delivery, other}, {delivery, listed}, {delivery, 0}, {0, other}, {0, 0}};
}

class Ifood final : public OrderSource {
 public:
  Capabilities capabilities() const override { return {.accept_within_s = 8 * 60}; }

  OrderCall Poll(const Variables& account, bool is_present) const override {
    return {.path = is_present ? "/events/v1.0/events:polling"
                               : "/events/v1.0/events:polling?excludeHeartbeat=true",
            .headers = {Concat({"x-polling-merchants: ", ValueOf(account, "merchant_id")})}};
  }

  std::optional<Report> Read(const Variables&, const json::Value& answer) const override {
    return ReadQueue(answer, [](const OrderReading& event) {
      const News news = NewsOf(event);
      return AppEvent{.id = event.RequireText("id"),
                      .external_id = event.Text("orderId").value_or(""),
                      .news = news,
                      .at = event.Instant("createdAt").value_or(0),
                      .words = news == News::kCancelled ? WordsOf(event) : ""};
    });
  }

  std::vector<OrderCall> Acknowledge(const std::vector<AppEvent>& events) const override {
    return AcknowledgeQueue(
        events, "/events/v1.0/events/acknowledgment", kAcknowledgedAtOnce,
        [](json::Writer& out, const AppEvent& event) { out.Key("id").Text(event.id); });
  }

  OrderCall Details(const Variables&, std::string_view external_id) const override {
    return {.path = Concat({"/order/v1.0/orders/", wire::PercentEncoded(external_id)})};
  }

  AppOrder Map(const json::Value& details, std::string_view currency,
               int currency_decimals) const override {
    OrderReading::Unread unread;
    const OrderReading order(details, currency, currency_decimals, &unread);
    AppOrder mapped = ReadOrder(order, kNames);
    mapped.is_test = order.IsTrue("isTest");
    ChooseAmounts(mapped, FeesOf(order), DiscountsOf(order, kNames));
    mapped.unread = std::move(unread);
    return mapped;
  }

  // It takes a command again, and tells what has become of the order by events.
  std::optional<OrderCall> Tell(const Variables&, const OrderCommand& command) const override {
    static constexpr std::array<std::string_view, 4> kWords = {"confirm", "startPreparation",
                                                               "readyToPickup", "dispatch"};
    if (command.kind == CommandKind::kDispatch && !command.is_delivered_here) return std::nullopt;
    return OrderCall{
        .method = "POST",
        .path = Concat({"/order/v1.0/orders/", wire::PercentEncoded(command.external_id), "/",
                        kWords[static_cast<size_t>(command.kind)]})};
  }
};

}  // namespace

const OrderSource& IfoodSource() {
  static const Ifood source;
  return source;
}

}  // namespace comanda::delivery
