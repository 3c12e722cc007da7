#include "delivery/apps/queue.h"

#include <algorithm>

#include "base/concat.h"
#include "base/problem.h"
#include "net/reply.h"

namespace comanda::delivery {
namespace {

orders::ServiceType TypeOf(const OrderReading& order, std::string_view member) {
  const std::string type = order.RequireText(member);
  if (type == "DELIVERY") return orders::ServiceType::kDelivery;
  if (type == "TAKEOUT") return orders::ServiceType::kTakeaway;
  if (type == "INDOOR" || type == "DINE_IN") return orders::ServiceType::kOnsite;
  order.Fail(member, "is a type that is not known here");
}

Minor OptionPrice(const OrderReading& option, const OrderNames& names) {
  for (const std::string_view member : names.option_price) {
    if (!member.empty() && option.Has(member)) return option.Money(member);
  }
  return 0;
}

AppLine LineOf(const OrderReading& item, const OrderNames& names) {
  AppLine line;
  line.name = item.RequireText("name");
  line.external_code = item.Text("externalCode");
  line.quantity = item.RequireQuantity("quantity");
  line.comment = item.Text(names.line_comment);
  line.total = item.RequireMoney("totalPrice");
  for (const OrderReading& option : item.Items("options", orders::kModifiersMax)) {
    line.options.push_back({.name = option.RequireText("name"),
                            .external_code = option.Text("externalCode"),
                            .quantity = option.RequireQuantity("quantity"),
                            .price = OptionPrice(option, names)});
  }
  SpreadOptions(line, item.Money("unitPrice"));
  return line;
}

// With who pays for each, where the app says so.
std::vector<AppDiscount> DiscountsOf(const OrderReading& order, const OrderNames& names) {
  std::vector<AppDiscount> discounts;
  for (const OrderReading& discount : order.Items(names.discounts, orders::kDiscountsMax)) {
    const auto sponsors = discount.Items("sponsorshipValues", orders::kDiscountsMax);
    for (const OrderReading& sponsor : sponsors) {
      const std::string name = sponsor.Text("name").value_or("the app");
      discounts.push_back({sponsor.Money(names.discount_amount),
                           sponsor.Text("description").value_or(Concat({"paid by ", name}))});
    }
    if (sponsors.empty()) {
      discounts.push_back({discount.Money(names.discount_amount), "discount of the app"});
    }
  }
  return discounts;
}

AppCustomer CustomerOf(const OrderReading& order, const OrderNames& names) {
  const auto text = [&](std::string_view path) {
    auto found = order.Text(path);
    return found && IsEncrypted(*found) ? std::nullopt : found;
  };
  const auto at = [&](std::string_view name) {
    return text(Concat({"delivery.deliveryAddress.", name}));
  };
  AppCustomer customer;
  customer.name = text("customer.name");
  customer.phone = text("customer.phone.number");
  const auto extension = text(Concat({"customer.phone.", names.extension}));
  if (customer.phone && extension) {
    *customer.phone += Concat({" ", names.extension_label, " ", *extension});
  }
  customer.address = at("formattedAddress");
  if (const auto street = at(names.street); !customer.address && street) {
    customer.address = Concat({*street, ", ", at(names.street_number).value_or("s/n")});
  }
  customer.area = at(names.area);
  customer.city = at("city");
  customer.reference = at("reference");
  customer.complement = at("complement");
  customer.latitude = at("coordinates.latitude");
  customer.longitude = at("coordinates.longitude");
  return customer;
}

}  // namespace

std::string ValueOf(const Variables& account, const std::string& name) {
  const auto value = account.find(name);
  return value == account.end() ? "" : value->second;
}

std::optional<std::vector<AppEvent>> ReadQueue(const json::Value& answer, const ReadEvent& read) {
  std::optional<json::Value> list = answer;
  if (answer.kind() == json::Kind::kObject) list = answer.Find("events");
  if (!list || list->kind() != json::Kind::kArray) return std::nullopt;
  std::vector<AppEvent> events;
  for (const json::Value& item : list->items()) {
    if (item.kind() != json::Kind::kObject) return std::nullopt;
    const OrderReading reading(item, "", 0);
    try {
      AppEvent event = read(reading);
      if (event.external_id.empty()) event.news = News::kOther;
      event.raw = item.Canonical();
      events.push_back(std::move(event));
    } catch (const Refusal&) {
      return std::nullopt;  // an event without an id cannot be acknowledged
    }
  }
  return events;
}

std::vector<OrderCall> AcknowledgeQueue(const std::vector<AppEvent>& events, std::string path,
                                        size_t at_once, const WriteEvent& write) {
  std::vector<OrderCall> calls;
  for (size_t begin = 0; begin < events.size(); begin += at_once) {
    const size_t end = std::min(begin + at_once, events.size());
    OrderCall call{.method = "POST", .path = path};
    json::Writer out(call.json);
    out.BeginArray();
    for (size_t i = begin; i < end; ++i) {
      out.BeginObject();
      write(out, events[i]);
      out.EndObject();
    }
    out.EndArray();
    calls.push_back(std::move(call));
  }
  return calls;
}

AppOrder ReadOrder(const OrderReading& order, const OrderNames& names) {
  AppOrder read;
  read.external_id = order.RequireText("id");
  read.display_id = order.Text("displayId").value_or(read.external_id);
  read.service_type = TypeOf(order, names.type);
  read.is_delivered_here = order.Text("delivery.deliveredBy") == "MERCHANT";
  if (order.Text("orderTiming") == "SCHEDULED") {
    read.scheduled_for = order.Instant(names.scheduled_for);
    read.prepare_at = order.Instant("preparationStartDateTime");
  }
  for (const OrderReading& item : order.Items("items", kLinesMax)) {
    read.lines.push_back(LineOf(item, names));
  }
  if (read.lines.empty()) order.Fail("items", "is empty");
  read.discounts = DiscountsOf(order, names);
  read.total = order.RequireMoney("total.orderAmount");
  read.paid_online = std::min(order.Money("payments.prepaid"), read.total);
  for (const OrderReading& method : order.Items("payments.methods", orders::kPaymentsMax)) {
    method.RequireCurrency("currency");
  }
  read.comment = order.Text("extraInfo");
  read.customer = CustomerOf(order, names);
  return read;
}

bool IsEncrypted(std::string_view text) { return text.starts_with("ENC_"); }

}  // namespace comanda::delivery
