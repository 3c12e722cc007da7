#include "delivery/whole_order.h"

#include <algorithm>

#include "base/concat.h"
#include "base/id.h"
#include "base/problem.h"
#include "base/text.h"
#include "clients/clients.h"
#include "company/companies.h"
#include "menu/menu.h"
#include "orders/pricing.h"
#include "orders/references.h"

namespace comanda::delivery {
namespace {

constexpr size_t kNameMax = 200, kReasonMax = 200, kCommentMax = 500, kSkuMax = 100;
constexpr std::string_view kAdjustment = "adjustment";

std::optional<std::string> TakenIf(const std::optional<std::string>& text, size_t characters_max) {
  if (!text) return std::nullopt;
  std::string taken = Taken(std::string_view(*text), characters_max);
  if (taken.empty()) return std::nullopt;
  return taken;
}

std::string NameOr(std::string_view name, std::string_view otherwise) {
  std::string taken = Taken(name, kNameMax);
  return taken.empty() ? std::string(otherwise) : taken;
}

Refusal TooLarge() {
  return Refusal(Problem::kValidationFailed, "The sums of the order are beyond every bound.");
}

orders::Modifier ModifierOf(const AppOption& option, int64_t line_quantity, UtcMs now) {
  orders::Modifier modifier;
  modifier.id = NewId(now);
  modifier.name = NameOr(option.name, "option");
  modifier.quantity = option.quantity;
  modifier.price = modifier.original_price = option.price;
  modifier.unit_quantity = orders::UnitQuantity(option.quantity, line_quantity);
  modifier.unit_price = modifier.original_unit_price =
      orders::UnitPrice(option.price, option.quantity);
  return modifier;
}

// The line's total is the app's: where the options alone are dearer, they are shown without prices.
orders::Combo ComboOf(const AppLine& line, int decimals, UtcMs now) {
  orders::Combo combo;
  combo.id = NewId(now);
  combo.product_name = NameOr(line.name, "item");
  if (line.external_code)
    combo.sku = TakenIf(std::string(TrimmedCode(*line.external_code)), kSkuMax);
  combo.quantity = line.quantity;
  combo.comment = TakenIf(line.comment, kCommentMax);
  Minor of_options = 0;
  for (const AppOption& option : line.options) {
    combo.modifiers.push_back(ModifierOf(option, line.quantity, now));
    of_options += option.price;
  }
  if (of_options > line.total) {
    of_options = 0;
    for (orders::Modifier& modifier : combo.modifiers) {
      modifier.price = modifier.original_price = 0;
      modifier.unit_price = modifier.original_unit_price = 0;
    }
  }
  combo.variant_price = combo.variant_original_price = line.total - of_options;
  combo.variant_unit_price = combo.variant_original_unit_price =
      orders::UnitPrice(combo.variant_price, line.quantity);
  if (!orders::SumUp(combo, decimals)) throw TooLarge();
  return combo;
}

orders::Combo AdjustmentLine(Minor amount, int decimals, UtcMs now) {
  return ComboOf({.name = std::string(kAdjustment), .total = amount}, decimals, now);
}

orders::Discount DiscountOf(Minor amount, std::string_view reason, UtcMs now) {
  orders::Discount discount;
  discount.id = NewId(now);
  discount.value = amount;
  discount.reason = NameOr(reason, "discount of the app");
  return discount;
}

void TakeCustomer(const AppCustomer& customer, orders::Order& order) {
  if (customer.name || customer.phone) {
    clients::Client client;
    client.name = NameOr(customer.name.value_or(""), "-");
    client.phone_number = TakenIf(customer.phone, kNameMax);
    order.client = orders::SnapshotOf(client);
  }
  if (!customer.address) return;
  clients::Address address;
  address.address = NameOr(*customer.address, "-");
  address.area = TakenIf(customer.area, kNameMax);
  address.city = TakenIf(customer.city, kNameMax);
  address.reference = TakenIf(customer.reference, kNameMax);
  address.complement = TakenIf(customer.complement, kNameMax);
  address.latitude = customer.latitude;
  address.longitude = customer.longitude;
  order.address = orders::SnapshotOf(address);
}

// Makes the order's total that of the app; returns what was added.
Minor Adjust(orders::Order& order, Minor total, UtcMs now) {
  if (!orders::Price(order, now)) throw TooLarge();
  const Minor missing = total - order.totals.total;
  if (missing == 0) return 0;
  if (missing > 0) {
    order.combos.push_back(AdjustmentLine(missing, order.currency_decimals, now));
  } else {
    order.discounts.push_back(DiscountOf(-missing, kAdjustment, now));
  }
  if (!orders::Price(order, now)) throw TooLarge();
  return missing;
}

void LinkOptions(db::Session& session, db::CompanyId company,
                 const std::vector<std::optional<std::string>>& codes, orders::Combo& combo) {
  if (!combo.product_id) return;
  for (size_t i = 0; i < codes.size(); ++i) {
    if (!codes[i]) continue;
    const auto modifier = menu::FindModifierBySku(session, company, *combo.product_id, *codes[i]);
    if (modifier) combo.modifiers[i].modifier_id = modifier->id;
  }
}

}  // namespace

std::string Taken(std::string_view text, size_t characters_max) {
  std::string taken;
  size_t characters = 0;
  for (const char c : Trimmed(text)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool begins_character = (byte & 0xC0) != 0x80;
    if (begins_character && ++characters > characters_max) break;
    taken += byte < 0x20 || byte == 0x7F ? ' ' : c;
  }
  return taken;
}

std::string SourceNameOf(std::string_view app) { return AsciiUpper(app); }
std::string ActorOf(std::string_view app) { return Concat({"app:", app}); }
std::string OnlineMethodOf(std::string_view app) { return Concat({app, "_online"}); }
std::string OfflineMethodOf(std::string_view app) { return Concat({app, "_offline"}); }

Drafted Draft(const AppOrder& app_order, const Provider& provider, const company::Company& company,
              UtcMs now) {
  Drafted drafted;
  drafted.whole.external_id = app_order.external_id;
  orders::Order& order = drafted.whole.order;
  order.currency_decimals = company.currency_decimals;
  order.service_type = app_order.service_type;
  order.scheduled_delivery_date = app_order.scheduled_for;
  order.order_title = Taken(
      Concat({app_order.is_test ? "TEST " : "", provider.display_name, " ", app_order.display_id}),
      kNameMax);
  order.comment = TakenIf(app_order.comment, kCommentMax);
  TakeCustomer(app_order.customer, order);
  const bool is_delivery = app_order.service_type == orders::ServiceType::kDelivery;
  if (is_delivery) order.delivery_comment = TakenIf(app_order.delivery_comment, kCommentMax);
  order.delivery_price = is_delivery ? app_order.delivery_fee : 0;
  order.service_fee_price = app_order.other_fees + (is_delivery ? 0 : app_order.delivery_fee);
  for (const AppLine& line : app_order.lines) {
    order.combos.push_back(ComboOf(line, company.currency_decimals, now));
    auto& codes = drafted.option_codes.emplace_back();
    for (const AppOption& option : line.options) codes.push_back(option.external_code);
  }
  for (const AppDiscount& discount : app_order.discounts) {
    if (discount.amount > 0) {
      order.discounts.push_back(
          DiscountOf(discount.amount, Taken(discount.reason, kReasonMax), now));
    }
  }
  drafted.adjustment = Adjust(order, app_order.total, now);
  if (app_order.paid_online > 0) {
    orders::Payment payment;
    payment.id = NewId(now);
    payment.amount = app_order.paid_online;
    order.payments.push_back(std::move(payment));
  }
  return drafted;
}

void Complete(db::Session& session, const company::Company& company, std::string_view app,
              Drafted& drafted) {
  orders::Order& order = drafted.whole.order;
  orders::LinkToMenu(session, company.company_id, order.combos);
  for (size_t i = 0; i < drafted.option_codes.size(); ++i) {
    LinkOptions(session, company.company_id, drafted.option_codes[i], order.combos[i]);
  }
  for (orders::Payment& payment : order.payments) {
    const std::string code = OnlineMethodOf(app);
    auto method = company::FindPaymentMethodByCode(session, company.company_id, code);
    if (!method) throw Fault(Fault::Kind::kInternal, Concat({"no payment method ", code}));
    payment.method = {std::move(method->id), std::move(method->code),
                      std::move(method->description)};
  }
}

}  // namespace comanda::delivery
