#include "delivery/apps/queue.h"

#include <algorithm>

#include "base/concat.h"
#include "base/problem.h"
#include "base/text.h"
#include "net/reply.h"

namespace comanda::delivery {
namespace {

constexpr std::string_view kDiscountOfApp = "discount of the app";

// One that is not known here is delivered where it has an address, and somebody looks.
orders::ServiceType TypeOf(const OrderReading& order, std::string_view member) {
  const std::string type = AsciiUpper(order.Text(member).value_or(""));
  if (type == "DELIVERY") return orders::ServiceType::kDelivery;
  if (type == "TAKEOUT") return orders::ServiceType::kTakeaway;
  if (type == "INDOOR" || type == "DINE_IN") return orders::ServiceType::kOnsite;
  order.NoteUnread(member);
  const bool has_address = order.Has("delivery.deliveryAddress");
  return has_address ? orders::ServiceType::kDelivery : orders::ServiceType::kTakeaway;
}

Minor PriceOf(const OrderReading& option, int64_t quantity, const OrderNames& names) {
  for (const std::string_view member : names.option_price) {
    if (!member.empty() && option.Has(member)) return option.Money(member);
  }
  return option.MoneyTimes("unitPrice", quantity);
}

// What the app counts; else as many as make the price, if that is clear.
int64_t QuantityOf(const OrderReading& item) {
  if (const auto quantity = item.Quantity("quantity")) return *quantity;
  const Minor unit_price = item.Money("unitPrice"), price = item.Money("totalPrice");
  const bool is_whole = unit_price > 0 && price >= unit_price && price % unit_price == 0;
  if (!is_whole || !item.Items("options").empty()) {
    item.Fail("quantity", "must be a number above 0, with at most three decimals");
  }
  item.NoteUnread("quantity");
  return price / unit_price * orders::kOneInThousandths;
}

Minor TotalOf(const OrderReading& item, const AppLine& line) {
  if (item.Has("totalPrice")) return item.Money("totalPrice");
  Minor total = item.MoneyTimes("unitPrice", line.quantity);
  for (const AppOption& option : line.options) total += option.price;
  return total;
}

// Nothing for what names no dish.
std::optional<AppLine> LineOf(const OrderReading& item, const OrderNames& names) {
  const auto name = item.Text({"name", "externalCode"});
  if (!name) {
    item.NoteUnread();
    return std::nullopt;
  }
  AppLine line;
  line.name = *name;
  line.external_code = item.Text("externalCode");
  line.quantity = QuantityOf(item);
  line.comment = item.Text(names.line_comment);
  ReadOptions(
      item,
      [&](const OrderReading& option, int64_t quantity) {
        return PriceOf(option, quantity, names);
      },
      line);
  line.total = TotalOf(item, line);
  SpreadOptions(line, item.Money("unitPrice"));
  return line;
}

// "Black Friday, paid by IFOOD": what it is, and who pays for it.
std::string ReasonOf(const OrderReading& discount, const std::optional<OrderReading>& sponsor) {
  std::string reason = discount.Text({"campaign.name", "description"}).value_or("");
  const auto add = [&](std::string_view words) {
    reason += Concat({reason.empty() ? "" : ", ", words});
  };
  if (sponsor) {
    if (const auto words = sponsor->Text("description")) add(*words);
    add(Concat({"paid by ", sponsor->Text("name").value_or("the app")}));
  }
  return reason.empty() ? std::string(kDiscountOfApp) : reason;
}

// The customer's ways to pay what is not paid online.
std::vector<AppCharge> ChargesOf(const OrderReading& order) {
  std::vector<AppCharge> charges;
  for (const OrderReading& method : order.Items("payments.methods")) {
    method.RequireCurrency("currency");
    const std::string type = method.Text("type").value_or("");
    if (method.IsTrue("prepaid") || type == "ONLINE" || type == "PREPAID") continue;
    const std::string word = method.Text("method").value_or("");
    AppCharge charge{.amount = method.Money("value"), .word = word};
    if (word.empty() && charge.amount == 0) {
      method.NoteUnread();
      continue;
    }
    if (word == "CASH") charge.means = AppCharge::Means::kCash;
    if (word.find("CREDIT") != word.npos || word.find("DEBIT") != word.npos ||
        word.find("VOUCHER") != word.npos || method.Has("card")) {
      charge.means = AppCharge::Means::kCard;
    }
    for (const std::string_view more : {"card.brand", "wallet.name", "methodInfo", "brand"}) {
      if (const auto text = method.Text(more)) charge.word += Concat({" ", *text});
    }
    for (const std::string_view member : {"cash.changeFor", "changeFor"}) {
      if (const Minor change_for = method.Money(member); change_for > charge.amount) {
        charge.change_for = change_for;
      }
    }
    charges.push_back(std::move(charge));
  }
  return charges;
}

Minor PaidOnline(const OrderReading& order, Minor total) {
  if (order.Has("payments.prepaid")) return std::min(order.Money("payments.prepaid"), total);
  if (order.Has("payments.pending")) {
    return total - std::min(order.Money("payments.pending"), total);
  }
  return 0;
}

// For how much before it is to be there an order's preparation begins, where the app does not say.
constexpr int64_t kPreparationMs = 60 * 60'000;

void ReadSchedule(const OrderReading& order, const OrderNames& names, AppOrder& read) {
  if (order.Text("orderTiming") != "SCHEDULED") return;
  for (const std::string_view member :
       {names.scheduled_for, std::string_view("delivery.deliveryDateTime"),
        std::string_view("takeout.takeoutDateTime"), std::string_view("dineIn.deliveryDateTime"),
        std::string_view("delivery.estimatedDeliveryDateTime")}) {
    if (!read.scheduled_for) read.scheduled_for = order.Instant(member);
  }
  read.prepare_at = order.Instant("preparationStartDateTime");
  if (!read.prepare_at && read.scheduled_for) {
    read.prepare_at = *read.scheduled_for - kPreparationMs;
  }
  if (!read.scheduled_for) order.NoteUnread(names.scheduled_for);
}

std::optional<std::string> CommentOf(const OrderReading& order) {
  std::string comment;
  for (const std::string_view member :
       {"extraInfo", "takeout.observations", "dineIn.observations", "indoor.observations"}) {
    if (const auto text = order.Text(member)) {
      comment += Concat({comment.empty() ? "" : "\n", *text});
    }
  }
  if (comment.empty()) return std::nullopt;
  return comment;
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

std::optional<Report> ReadQueue(const json::Value& answer, const ReadEvent& read) {
  std::optional<json::Value> list = answer;
  if (answer.kind() == json::Kind::kObject) list = answer.Find("events");
  if (!list || list->kind() != json::Kind::kArray) return std::nullopt;
  Report report;
  for (const json::Value& item : list->items()) {
    try {
      AppEvent event = read(OrderReading(item, "", 0));
      if (event.external_id.empty()) event.news = News::kOther;
      event.raw = item.Canonical();
      report.events.push_back(std::move(event));
    } catch (const Refusal&) {  // without an id it cannot be acknowledged
      report.left_out.push_back(item.Canonical());
    }
  }
  return report;
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

std::vector<Discounts> DiscountsOf(const OrderReading& order, const OrderNames& names) {
  Discounts by_sponsor, by_themselves;
  for (const OrderReading& discount : order.Items(names.discounts)) {
    const auto sponsors = discount.Items("sponsorshipValues");
    for (const OrderReading& sponsor : sponsors) {
      by_sponsor.push_back({sponsor.Money(names.discount_amount), ReasonOf(discount, sponsor)});
    }
    by_themselves.push_back(
        {discount.Money(names.discount_amount), ReasonOf(discount, std::nullopt)});
    if (sponsors.empty()) by_sponsor.push_back(by_themselves.back());
  }
  const Discounts in_one =
      OneDiscount(order.Money(names.total_discount), std::string(kDiscountOfApp));
  if (by_themselves.empty()) return {in_one, {}};
  return {std::move(by_sponsor), std::move(by_themselves), in_one, {}};
}

AppOrder ReadOrder(const OrderReading& order, const OrderNames& names) {
  AppOrder read;
  read.external_id = order.RequireText("id");
  read.display_id = order.Text("displayId").value_or(read.external_id);
  read.service_type = TypeOf(order, names.type);
  read.is_delivered_here = order.Text("delivery.deliveredBy") == "MERCHANT";
  ReadSchedule(order, names, read);
  const auto items = order.Items("items");
  if (items.size() > kLinesMax) order.Fail("items", Concat({"has more than ", kLinesMax}));
  for (const OrderReading& item : items) {
    if (auto line = LineOf(item, names)) read.lines.push_back(*std::move(line));
  }
  if (read.lines.empty()) order.Fail("items", "has no dish");
  read.total = order.RequireMoney("total.orderAmount");
  read.paid_online = PaidOnline(order, read.total);
  read.charges = ChargesOf(order);
  read.comment = CommentOf(order);
  read.place = order.Text("indoor.place");
  read.table = order.Text({"indoor.tab", "indoor.table"});
  read.pickup_code = order.Text({"delivery.pickupCode", "takeout.pickupCode"});
  read.delivery_comment = order.Text("delivery.observations");
  read.customer = CustomerOf(order, names);
  return read;
}

bool IsEncrypted(std::string_view text) { return text.starts_with("ENC_"); }

}  // namespace comanda::delivery
