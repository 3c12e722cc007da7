#include <algorithm>

#include "base/concat.h"
#include "base/text.h"
#include "delivery/orders/amounts.h"
#include "delivery/apps/apps.h"
#include "delivery/apps/queue.h"
#include "delivery/orders/order_reading.h"
#include "wire/percent.h"

namespace comanda::delivery {
namespace {

// One that is not known here is delivered where it has an address, and somebody looks.
orders::ServiceType ServiceOf(const OrderReading& order) {
  const std::string method = AsciiLower(order.Text("order_detail.delivery_method").value_or(""));
  if (method == "delivery" || method == "marketplace") return orders::ServiceType::kDelivery;
  if (method == "pickup") return orders::ServiceType::kTakeaway;
  order.NoteUnread("order_detail.delivery_method");
  const bool has_address = order.Has("order_detail.delivery_information.complete_address");
  return has_address ? orders::ServiceType::kDelivery : orders::ServiceType::kTakeaway;
}

// Prices are of one, without discounts; the numbers of subitems are of one item. Nothing for what
// names no dish.
std::optional<AppLine> LineOf(const OrderReading& item) {
  const auto name = item.Text({"name", "sku"});
  const auto quantity = item.Quantity("quantity");
  if (!name) {
    item.NoteUnread();
    return std::nullopt;
  }
  if (!quantity) item.Fail("quantity", "must be a number above 0, with at most three decimals");
  AppLine line;
  line.name = *name;
  line.external_code = item.Text("sku");
  line.quantity = *quantity;
  line.comment = item.Text("comments");
  line.total = item.MoneyTimes("price", line.quantity);
  const auto of_line = [&](int64_t of_one) {
    return TimesThousandths(of_one, line.quantity).value_or(of_one);
  };
  ReadOptions(
      item,
      [&](const OrderReading& part, int64_t of_one) {
        return part.MoneyTimes("price", of_line(of_one));
      },
      line);
  for (AppOption& option : line.options) {
    option.quantity = of_line(option.quantity);
    line.total += option.price;
  }
  return line;
}

// The forms in which the discounts are told. Those that the restaurant bears come first: the others
// do not lessen what it gets.
std::vector<Discounts> DiscountsOf(const OrderReading& order) {
  Discounts of_partner, of_all;
  for (const OrderReading& discount : order.Items("order_detail.discounts")) {
    std::string reason = discount.Text("title").value_or("Rappi");
    if (const auto words = discount.Text("description")) reason += Concat({": ", *words});
    of_partner.push_back({discount.Money("amount_by_partner"), reason});
    of_all.push_back({discount.Money("value"), reason});
  }
  const auto in_one = [&](std::string_view member) {
    return OneDiscount(order.Money(member), "Rappi");
  };
  return {of_partner,
          in_one("order_detail.totals.total_discount_by_partner"),
          of_all,
          in_one("order_detail.totals.total_discounts"),
          {}};
}

// The total is what the restaurant gets: with the delivery and the tip where its own rider goes.
// The portal's own examples have others of the charges in it, too.
std::vector<Fees> FeesOf(const OrderReading& order, bool is_marketplace) {
  const Minor shipping = order.Money("order_detail.totals.charges.shipping"),
              service = order.Money("order_detail.totals.charges.service_fee"),
              tip = order.Money("order_detail.totals.other_totals.tip");
  const Fees documented = is_marketplace ? Fees{shipping, tip} : Fees{};
  return {
      documented,      {},           {shipping, 0}, {shipping, service + tip}, {shipping, service},
      {shipping, tip}, {0, service}, {0, tip},      {0, service + tip}};
}

// Cash and the card machine are for what is not paid through the app.
std::vector<AppCharge> ChargesOf(const OrderReading& order, Minor pending) {
  if (pending == 0) return {};
  AppCharge charge{.amount = pending};
  charge.word = order.Text("order_detail.payment_method").value_or("");
  const std::string word = AsciiLower(charge.word);
  if (word == "cash" || word == "efectivo") charge.means = AppCharge::Means::kCash;
  if (word == "cc" || word == "dc" || word.find("card") != word.npos) {
    charge.means = AppCharge::Means::kCard;
  }
  return {charge};
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

  std::optional<Report> Read(const Variables& account, const json::Value& answer) const override {
    if (answer.kind() != json::Kind::kArray) return std::nullopt;
    Report report;
    for (const json::Value& item : answer.items()) {
      const OrderReading order(item, "", 0);
      const auto id = order.Text("order_detail.order_id");
      if (!id) {
        report.left_out.push_back(item.Canonical());
        continue;
      }
      if (!IsOfStore(order, ValueOf(account, "store_id"))) continue;
      report.events.push_back({.id = *id,
                               .external_id = *id,
                               .news = News::kPlaced,
                               .raw = "{}",
                               .details = item.Canonical()});
    }
    return report;
  }

  OrderCall Details(const Variables& account, std::string_view external_id) const override {
    return {.path = Concat({StorePath(account), "/", wire::PercentEncoded(external_id)})};
  }

  AppOrder Map(const json::Value& details, std::string_view currency,
               int currency_decimals) const override {
    OrderReading::Unread unread;
    const OrderReading order(details, currency, currency_decimals, &unread);
    const bool is_marketplace = order.Text("order_detail.delivery_method") == "marketplace";
    AppOrder mapped;
    mapped.external_id = order.RequireText("order_detail.order_id");
    mapped.display_id = mapped.external_id;
    mapped.service_type = ServiceOf(order);
    mapped.is_delivered_here = is_marketplace;
    mapped.scheduled_local = order.Text("order_detail.place_at").value_or("");
    mapped.preparation_minutes = order.Minutes("order_detail.cooking_time");
    const auto items = order.Items("order_detail.items");
    if (items.size() > kLinesMax) {
      order.Fail("order_detail.items", Concat({"has more than ", kLinesMax}));
    }
    for (const OrderReading& item : items) {
      if (auto line = LineOf(item)) mapped.lines.push_back(*std::move(line));
    }
    if (mapped.lines.empty()) order.Fail("order_detail.items", "has no dish");
    mapped.total = order.RequireMoney("order_detail.totals.total_order");
    ChooseAmounts(mapped, FeesOf(order, is_marketplace), DiscountsOf(order));
    const Minor pending = std::min(order.Money("order_detail.totals.total_to_pay"), mapped.total);
    mapped.paid_online = mapped.total - pending;
    mapped.charges = ChargesOf(order, pending);
    mapped.comment = order.Text("order_detail.comments");
    mapped.customer = CustomerOf(order);
    mapped.unread = std::move(unread);
    return mapped;
  }

  std::optional<OrderCall> Tell(const Variables& account,
                                const OrderCommand& command) const override {
    const std::string path =
        Concat({StorePath(account), "/", wire::PercentEncoded(command.external_id)});
    switch (command.kind) {
      case CommandKind::kConfirm:
        return OrderCall{.method = "PUT", .path = path + "/take"};
      case CommandKind::kReady:
        return OrderCall{.method = "POST", .path = path + "/ready-for-pickup"};
      case CommandKind::kPrepare:
      case CommandKind::kDispatch:
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
