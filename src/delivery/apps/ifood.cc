#include "delivery/apps/ifood.h"

#include <algorithm>

#include "base/concat.h"
#include "base/problem.h"
#include "delivery/apps/queue.h"
#include "delivery/order_reading.h"
#include "json/writer.h"
#include "wire/percent.h"

namespace comanda::delivery {
namespace {

constexpr size_t kAcknowledgedAtOnce = 2'000;
constexpr size_t kOptionsMax = orders::kModifiersMax;

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

orders::ServiceType TypeOf(const OrderReading& order) {
  const std::string type = order.RequireText("orderType");
  if (type == "DELIVERY") return orders::ServiceType::kDelivery;
  if (type == "TAKEOUT") return orders::ServiceType::kTakeaway;
  if (type == "DINE_IN" || type == "INDOOR") return orders::ServiceType::kOnsite;
  order.Fail("orderType", "is a type that is not known here");
}

AppLine LineOf(const OrderReading& item) {
  AppLine line;
  line.name = item.RequireText("name");
  line.external_code = item.Text("externalCode");
  line.quantity = item.RequireQuantity("quantity");
  line.comment = item.Text("observations");
  line.total = item.RequireMoney("totalPrice");
  for (const OrderReading& option : item.Items("options", kOptionsMax)) {
    line.options.push_back({.name = option.RequireText("name"),
                            .external_code = option.Text("externalCode"),
                            .quantity = option.RequireQuantity("quantity"),
                            .price = option.Money("price")});
  }
  SpreadOptions(line, item.Money("unitPrice"));
  return line;
}

AppCustomer CustomerOf(const OrderReading& order) {
  const auto at = [&](std::string_view name) {
    return order.Text(Concat({"delivery.deliveryAddress.", name}));
  };
  AppCustomer customer;
  customer.name = order.Text("customer.name");
  customer.phone = order.Text("customer.phone.number");
  const auto localizer = order.Text("customer.phone.localizer");
  if (customer.phone && localizer) *customer.phone += Concat({" ID ", *localizer});
  customer.address = at("formattedAddress");
  if (!customer.address && at("streetName")) {
    customer.address = Concat({*at("streetName"), ", ", at("streetNumber").value_or("s/n")});
  }
  customer.area = at("neighborhood");
  customer.city = at("city");
  customer.reference = at("reference");
  customer.complement = at("complement");
  customer.latitude = at("coordinates.latitude");
  customer.longitude = at("coordinates.longitude");
  return customer;
}

std::vector<AppDiscount> DiscountsOf(const OrderReading& order) {
  std::vector<AppDiscount> discounts;
  for (const OrderReading& benefit : order.Items("benefits", orders::kDiscountsMax)) {
    const auto sponsors = benefit.Items("sponsorshipValues", orders::kDiscountsMax);
    for (const OrderReading& sponsor : sponsors) {
      const std::string name = sponsor.Text("name").value_or("iFood");
      discounts.push_back({sponsor.Money("value"),
                           sponsor.Text("description").value_or(Concat({"paid by ", name}))});
    }
    if (sponsors.empty()) discounts.push_back({benefit.Money("value"), "benefit of iFood"});
  }
  if (discounts.empty() && order.Money("total.benefits") > 0) {
    discounts.push_back({order.Money("total.benefits"), "benefit of iFood"});
  }
  return discounts;
}

}  // namespace

Capabilities Ifood::capabilities() const {
  return {.polling_is_presence = true, .accept_within_s = 8 * 60};
}

OrderCall Ifood::Poll(const Variables& account, bool is_present) const {
  return {.path = is_present ? "/events/v1.0/events:polling"
                             : "/events/v1.0/events:polling?excludeHeartbeat=true",
          .headers = {Concat({"x-polling-merchants: ", ValueOf(account, "merchant_id")})}};
}

std::optional<std::vector<AppEvent>> Ifood::Read(const Variables&,
                                                 const json::Value& answer) const {
  return ReadQueue(answer, [](const OrderReading& event) {
    const News news = NewsOf(event);
    return AppEvent{.id = event.RequireText("id"),
                    .external_id = event.Text("orderId").value_or(""),
                    .news = news,
                    .at = event.Instant("createdAt").value_or(0),
                    .words = news == News::kCancelled ? WordsOf(event) : ""};
  });
}

std::vector<OrderCall> Ifood::Acknowledge(const std::vector<AppEvent>& events) const {
  return AcknowledgeQueue(
      events, "/events/v1.0/events/acknowledgment", kAcknowledgedAtOnce,
      [](json::Writer& out, const AppEvent& event) { out.Key("id").Text(event.id); });
}

OrderCall Ifood::Details(const Variables&, std::string_view external_id) const {
  return {.path = Concat({"/order/v1.0/orders/", wire::PercentEncoded(external_id)})};
}

AppOrder Ifood::Map(const json::Value& details, std::string_view currency,
                    int currency_decimals) const {
  const OrderReading order(details, currency, currency_decimals);
  AppOrder mapped;
  mapped.external_id = order.RequireText("id");
  mapped.display_id = order.Text("displayId").value_or(mapped.external_id);
  mapped.service_type = TypeOf(order);
  mapped.is_test = order.IsTrue("isTest");
  mapped.is_delivered_here = order.Text("delivery.deliveredBy") == "MERCHANT";
  if (order.Text("orderTiming") == "SCHEDULED") {
    mapped.scheduled_for = order.Instant("schedule.deliveryDateTimeStart");
    if (!mapped.scheduled_for) mapped.scheduled_for = order.Instant("delivery.deliveryDateTime");
    mapped.prepare_at = order.Instant("preparationStartDateTime");
  }
  for (const OrderReading& item : order.Items("items", kLinesMax)) {
    mapped.lines.push_back(LineOf(item));
  }
  if (mapped.lines.empty()) order.Fail("items", "is empty");
  mapped.delivery_fee = order.Money("total.deliveryFee");
  mapped.other_fees = order.Money("total.additionalFees");
  mapped.discounts = DiscountsOf(order);
  mapped.total = order.RequireMoney("total.orderAmount");
  mapped.paid_online = std::min(order.Money("payments.prepaid"), mapped.total);
  for (const OrderReading& method : order.Items("payments.methods", orders::kPaymentsMax)) {
    method.RequireCurrency("currency");
  }
  mapped.comment = order.Text("extraInfo");
  mapped.delivery_comment = order.Text("delivery.observations");
  mapped.customer = CustomerOf(order);
  return mapped;
}

std::optional<OrderCall> Ifood::Tell(const Variables&, const Told& told) const {
  static constexpr std::array<std::string_view, 4> kNames = {"confirm", "startPreparation",
                                                             "readyToPickup", "dispatch"};
  if (told.command == Command::kDispatch && !told.is_delivered_here) return std::nullopt;
  return OrderCall{.method = "POST",
                   .path = Concat({"/order/v1.0/orders/", wire::PercentEncoded(told.external_id),
                                   "/", kNames[static_cast<size_t>(told.command)]})};
}

// It takes a command again, and tells what has become of the order by events.
bool Ifood::IsDoneAlready(int, std::string_view) const { return false; }

}  // namespace comanda::delivery
