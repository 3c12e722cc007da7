#include <algorithm>

#include "base/concat.h"
#include "delivery/apps/apps.h"
#include "delivery/apps/queue.h"
#include "delivery/order_reading.h"
#include "wire/percent.h"

namespace comanda::delivery {
namespace {

constexpr size_t kOrdersMax = 1'000;

orders::ServiceType ServiceOf(const OrderReading& order) {
  const std::string method = order.RequireText("order_detail.delivery_method");
  if (method == "delivery" || method == "marketplace") return orders::ServiceType::kDelivery;
  if (method == "pickup") return orders::ServiceType::kTakeaway;
  order.Fail("order_detail.delivery_method", "is a method that is not known here");
}

Minor Times(const OrderReading& item, std::string_view price, int64_t quantity) {
  const auto total = TimesThousandths(item.Money(price), quantity);
  if (!total) item.Fail(price, "is beyond every bound");
  return *total;
}

// Prices are of one, without discounts; the numbers of subitems are of one item.
AppLine LineOf(const OrderReading& item) {
  AppLine line;
  line.name = item.RequireText("name");
  line.external_code = item.Text("sku");
  line.quantity = item.RequireQuantity("quantity");
  line.comment = item.Text("comments");
  line.total = Times(item, "price", line.quantity);
  for (const OrderReading& part : item.Items("subitems", orders::kModifiersMax)) {
    const int64_t of_one = part.RequireQuantity("quantity");
    const int64_t of_line = TimesThousandths(of_one, line.quantity).value_or(of_one);
    line.options.push_back({.name = part.RequireText("name"),
                            .external_code = part.Text("sku"),
                            .quantity = of_line,
                            .price = Times(part, "price", of_line)});
    line.total += line.options.back().price;
  }
  return line;
}

// Those that the restaurant bears: the others do not lessen what it gets.
std::vector<AppDiscount> DiscountsOf(const OrderReading& order) {
  std::vector<AppDiscount> discounts;
  for (const OrderReading& discount :
       order.Items("order_detail.discounts", orders::kDiscountsMax)) {
    const auto title = discount.Text("title");
    discounts.push_back({discount.Money("amount_by_partner"),
                         title ? *title : discount.Text("description").value_or("Rappi")});
  }
  return discounts;
}

AppCustomer CustomerOf(const OrderReading& order) {
  const auto at = [&](std::string_view name) {
    return order.Text(Concat({"order_detail.delivery_information.", name}));
  };
  AppCustomer customer;
  customer.name = order.Text("customer.first_name");
  const auto last_name = order.Text("customer.last_name");
  if (customer.name && last_name) *customer.name += Concat({" ", *last_name});
  customer.phone = order.Text("customer.phone_number");
  customer.address = at("complete_address");
  customer.area = at("neighborhood");
  customer.city = at("city");
  customer.complement = at("complement");
  return customer;
}

// The list of sent orders is that of all stores of the credentials.
bool IsOfStore(const OrderReading& order, std::string_view store_id) {
  const auto internal = order.Text("store.internal_id"), external = order.Text("store.external_id");
  if (!internal && !external) return true;
  return internal == store_id || external == store_id;
}

std::string StorePath(const Variables& account) {
  return Concat({"/stores/", wire::PercentEncoded(ValueOf(account, "store_id")), "/orders"});
}

class Rappi final : public OrderSource {
 public:
  Capabilities capabilities() const override {
    return {.is_read_once = true,
            .sends_orders_along = true,
            .tells_status = false,
            .accept_within_s = 6 * 60};
  }

  OrderCall Poll(const Variables& account, bool) const override {
    return {.path = StorePath(account)};
  }

  std::optional<OrderCall> PollMissed(const Variables&) const override {
    return OrderCall{.path = "/orders/status/sent"};
  }

  std::optional<std::vector<AppEvent>> Read(const Variables& account,
                                            const json::Value& answer) const override {
    if (answer.kind() != json::Kind::kArray) return std::nullopt;
    std::vector<AppEvent> events;
    for (const json::Value& item : answer.items()) {
      const OrderReading order(item, "", 0);
      const auto id = order.Text("order_detail.order_id");
      if (!id || events.size() == kOrdersMax) return std::nullopt;
      if (!IsOfStore(order, ValueOf(account, "store_id"))) continue;
      events.push_back({.id = *id,
                        .external_id = *id,
                        .news = News::kPlaced,
                        .raw = "{}",
                        .details = item.Canonical()});
    }
    return events;
  }

  OrderCall Details(const Variables& account, std::string_view external_id) const override {
    return {.path = Concat({StorePath(account), "/", wire::PercentEncoded(external_id)})};
  }

  AppOrder Map(const json::Value& details, std::string_view currency,
               int currency_decimals) const override {
    const OrderReading order(details, currency, currency_decimals);
    const bool is_marketplace = order.Text("order_detail.delivery_method") == "marketplace";
    AppOrder mapped;
    mapped.external_id = order.RequireText("order_detail.order_id");
    mapped.display_id = mapped.external_id;
    mapped.service_type = ServiceOf(order);
    mapped.is_delivered_here = is_marketplace;
    for (const OrderReading& item : order.Items("order_detail.items", kLinesMax)) {
      mapped.lines.push_back(LineOf(item));
    }
    if (mapped.lines.empty()) order.Fail("order_detail.items", "is empty");
    // The total is what the restaurant gets: with the delivery and the tip where its own rider
    // goes.
    if (is_marketplace) {
      mapped.delivery_fee = order.Money("order_detail.totals.charges.shipping");
      mapped.other_fees = order.Money("order_detail.totals.other_totals.tip");
    }
    mapped.discounts = DiscountsOf(order);
    mapped.total = order.RequireMoney("order_detail.totals.total_order");
    const Minor pending = order.Money("order_detail.totals.total_to_pay");
    mapped.paid_online = mapped.total - std::min(pending, mapped.total);
    mapped.customer = CustomerOf(order);
    return mapped;
  }

  std::optional<OrderCall> Tell(const Variables& account,
                                const OrderCommand& command) const override {
    const std::string path =
        Concat({StorePath(account), "/", wire::PercentEncoded(command.external_id)});
    switch (command.step) {
      case Step::kConfirm:
        return OrderCall{.method = "PUT", .path = path + "/take"};
      case Step::kReady:
        return OrderCall{.method = "POST", .path = path + "/ready-for-pickup"};
      case Step::kPrepare:
      case Step::kDispatch:
        return std::nullopt;
    }
    return std::nullopt;
  }

  // "Invalid transition from {TAKEN} to {TAKEN}", with a status that no document names.
  bool IsDoneAlready(int, std::string_view body) const override {
    return body.find("{TAKEN} to {TAKEN}") != body.npos;
  }
};

}  // namespace

const OrderSource& RappiSource() {
  static const Rappi source;
  return source;
}

}  // namespace comanda::delivery
