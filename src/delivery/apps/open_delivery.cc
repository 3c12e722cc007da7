#include "delivery/apps/open_delivery.h"

#include <algorithm>

#include "base/concat.h"
#include "delivery/apps/queue.h"
#include "delivery/order_reading.h"
#include "json/reader.h"
#include "json/writer.h"
#include "wire/percent.h"

namespace comanda::delivery {
namespace {

constexpr size_t kAcknowledgedAtOnce = 100;
constexpr int kUnprocessable = 422;  // the order is in that state already

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

orders::ServiceType ServiceOf(const OrderReading& order) {
  const std::string type = order.RequireText("type");
  if (type == "DELIVERY") return orders::ServiceType::kDelivery;
  if (type == "TAKEOUT") return orders::ServiceType::kTakeaway;
  if (type == "INDOOR") return orders::ServiceType::kOnsite;
  order.Fail("type", "is a type that is not known here");
}

AppLine LineOf(const OrderReading& item) {
  AppLine line;
  line.name = item.RequireText("name");
  line.external_code = item.Text("externalCode");
  line.quantity = item.RequireQuantity("quantity");
  line.comment = item.Text("specialInstructions");
  line.total = item.RequirePrice("totalPrice");
  for (const OrderReading& option : item.Items("options", orders::kModifiersMax)) {
    line.options.push_back({.name = option.RequireText("name"),
                            .external_code = option.Text("externalCode"),
                            .quantity = option.RequireQuantity("quantity"),
                            .price = option.Price("totalPrice")});
  }
  SpreadOptions(line, item.Price("unitPrice"));
  return line;
}

std::vector<AppDiscount> DiscountsOf(const OrderReading& order) {
  std::vector<AppDiscount> discounts;
  for (const OrderReading& discount : order.Items("discounts", orders::kDiscountsMax)) {
    const auto sponsors = discount.Items("sponsorshipValues", orders::kDiscountsMax);
    for (const OrderReading& sponsor : sponsors) {
      discounts.push_back(
          {sponsor.Price("amount"), Concat({"paid by ", sponsor.Text("name").value_or("-")})});
    }
    if (sponsors.empty()) discounts.push_back({discount.Price("amount"), "discount of the app"});
  }
  return discounts;
}

void TakeFees(const OrderReading& order, AppOrder& mapped) {
  for (const OrderReading& fee : order.Items("otherFees", orders::kPaymentsMax)) {
    const Minor price = fee.RequirePrice("price");
    if (fee.Text("type") == "DELIVERY_FEE") {
      mapped.delivery_fee += price;
    } else {
      mapped.other_fees += price;
    }
  }
}

AppCustomer CustomerOf(const OrderReading& order) {
  const auto at = [&](std::string_view name) {
    return order.Text(Concat({"delivery.deliveryAddress.", name}));
  };
  AppCustomer customer;
  customer.name = order.Text("customer.name");
  customer.phone = order.Text("customer.phone.number");
  const auto extension = order.Text("customer.phone.extension");
  if (customer.phone && extension) *customer.phone += Concat({" ext ", *extension});
  customer.address = at("formattedAddress");
  if (!customer.address && at("street")) {
    customer.address = Concat({*at("street"), ", ", at("number").value_or("s/n")});
  }
  customer.area = at("district");
  customer.city = at("city");
  customer.reference = at("reference");
  customer.complement = at("complement");
  customer.latitude = at("coordinates.latitude");
  customer.longitude = at("coordinates.longitude");
  return customer;
}

// Where the order is eaten inside: its place and its tab.
std::optional<std::string> CommentOf(const OrderReading& order) {
  std::string comment = order.Text("extraInfo").value_or("");
  for (const std::string_view name : {"indoor.place", "indoor.tab"}) {
    if (const auto text = order.Text(name)) {
      comment += Concat({comment.empty() ? "" : "\n", name.substr(name.find('.') + 1), " ", *text});
    }
  }
  if (comment.empty()) return std::nullopt;
  return comment;
}

}  // namespace

Capabilities OpenDelivery::capabilities() const { return {}; }

OrderCall OpenDelivery::Poll(const Variables&, bool) const {
  return {.path = "/v1/events:polling"};
}

std::optional<std::vector<AppEvent>> OpenDelivery::Read(const Variables&,
                                                        const json::Value& answer) const {
  return ReadQueue(answer, [](const OrderReading& event) {
    const std::string type = event.RequireText("eventType");
    return AppEvent{.id = event.RequireText("eventId"),
                    .external_id = event.Text("orderId").value_or(""),
                    .news = NewsOf(type),
                    .at = event.Instant("createdAt").value_or(0),
                    .words = event.Text("metadata.reason").value_or("")};
  });
}

std::vector<OrderCall> OpenDelivery::Acknowledge(const std::vector<AppEvent>& events) const {
  return AcknowledgeQueue(events, "/v1/events/acknowledgment", kAcknowledgedAtOnce,
                          [](json::Writer& out, const AppEvent& event) {
                            const json::Document raw = json::Document::Parse(event.raw);
                            const OrderReading reading(raw.root(), "", 0);
                            out.Key("id").Text(event.id);
                            out.Key("orderId").Text(event.external_id);
                            out.Key("eventType").Text(reading.RequireText("eventType"));
                          });
}

OrderCall OpenDelivery::Details(const Variables&, std::string_view external_id) const {
  return {.path = Concat({"/v1/orders/", wire::PercentEncoded(external_id)})};
}

AppOrder OpenDelivery::Map(const json::Value& details, std::string_view currency,
                           int currency_decimals) const {
  const OrderReading order(details, currency, currency_decimals);
  AppOrder mapped;
  mapped.external_id = order.RequireText("id");
  mapped.display_id = order.Text("displayId").value_or(mapped.external_id);
  mapped.service_type = ServiceOf(order);
  mapped.is_delivered_here = order.Text("delivery.deliveredBy") == "MERCHANT";
  if (order.Text("orderTiming") == "SCHEDULED") {
    mapped.scheduled_for = order.Instant("schedule.scheduledDateTimeStart");
    mapped.prepare_at = order.Instant("preparationStartDateTime");
  }
  for (const OrderReading& item : order.Items("items", kLinesMax)) {
    mapped.lines.push_back(LineOf(item));
  }
  if (mapped.lines.empty()) order.Fail("items", "is empty");
  TakeFees(order, mapped);
  mapped.discounts = DiscountsOf(order);
  mapped.total = order.RequirePrice("total.orderAmount");
  mapped.paid_online = std::min(order.Money("payments.prepaid"), mapped.total);
  for (const OrderReading& method : order.Items("payments.methods", orders::kPaymentsMax)) {
    method.RequireCurrency("currency");
  }
  mapped.comment = CommentOf(order);
  mapped.customer = CustomerOf(order);
  return mapped;
}

std::optional<OrderCall> OpenDelivery::Tell(const Variables&, const Told& told) const {
  static constexpr std::array<std::string_view, 4> kNames = {"confirm", "preparing",
                                                             "readyForPickup", "dispatch"};
  if (told.command == Command::kPrepare) return std::nullopt;  // apps say whether they want it
  if (told.command == Command::kDispatch && !told.is_delivered_here) return std::nullopt;
  OrderCall call{.method = "POST",
                 .path = Concat({"/v1/orders/", wire::PercentEncoded(told.external_id), "/",
                                 kNames[static_cast<size_t>(told.command)]})};
  if (told.command == Command::kConfirm) {
    json::Writer out(call.json);
    out.BeginObject();
    out.Key("createdAt").Instant(told.received_at);
    out.Key("orderExternalCode").Text(told.order_id);
    out.EndObject();
  }
  return call;
}

bool OpenDelivery::IsDoneAlready(int status, std::string_view) const {
  return status == kUnprocessable;
}

}  // namespace comanda::delivery
