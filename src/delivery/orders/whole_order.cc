#include "delivery/orders/whole_order.h"

#include <algorithm>
#include <array>

#include "base/concat.h"
#include "base/decimal.h"
#include "base/id.h"
#include "base/problem.h"
#include "base/text.h"
#include "clients/clients.h"
#include "company/companies.h"
#include "delivery/orders/words.h"
#include "menu/menu.h"
#include "orders/pricing.h"
#include "orders/references.h"

namespace comanda::delivery {
namespace {

constexpr size_t kNameMax = 200, kReasonMax = 200, kCommentMax = 500, kSkuMax = 100;
constexpr std::string_view kDifference = "difference";

// In bytes.
size_t SizeOfFirst(std::string_view text, size_t characters_max) {
  size_t characters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool begins_character = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (begins_character && ++characters > characters_max) return i;
  }
  return text.size();
}

std::optional<std::string> TakenIf(const std::optional<std::string>& text, size_t characters_max) {
  if (!text) return std::nullopt;
  std::string taken = Taken(std::string_view(*text), characters_max);
  if (taken.empty()) return std::nullopt;
  return taken;
}

// Lines, those that are empty left out; nothing where none is left.
std::optional<std::string> Joined(const std::vector<std::string>& texts, size_t characters_max) {
  std::string joined;
  for (const std::string& text : texts) {
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::string line = Taken(TakePiece(rest, '\n'), characters_max);
      if (!line.empty()) joined += Concat({joined.empty() ? "" : "\n", line});
    }
  }
  joined.resize(SizeOfFirst(joined, characters_max));
  if (joined.empty()) return std::nullopt;
  return joined;
}

std::string NameOr(std::string_view name, std::string_view otherwise) {
  std::string taken = Taken(name, kNameMax);
  return taken.empty() ? std::string(otherwise) : taken;
}

Refusal TooLarge() {
  return Refusal(Problem::kValidationFailed, "The sums of the order are beyond every bound.");
}

orders::Modifier ModifierOf(const AppOption& option, UtcMs now) {
  orders::Modifier modifier;
  modifier.id = NewId(now);
  modifier.group_name = TakenIf(option.group_name, kNameMax);
  modifier.name = NameOr(option.name, "option");
  modifier.quantity = option.quantity;
  modifier.price = modifier.original_price = option.price;
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
  Minor of_options = 0;
  std::vector<std::string> comments = {line.comment.value_or("")};
  for (const AppOption& option : line.options) {
    const bool has_room = combo.modifiers.size() < orders::kModifiersMax;
    if (has_room) {
      combo.modifiers.push_back(ModifierOf(option, now));
      of_options += option.price;
    }
    // The kitchen reads it all: what is dropped may be an allergy.
    if (!has_room || CharacterCount(option.name) > kNameMax) {
      std::string count;
      AppendScaled(count, option.quantity, orders::kQuantityDecimals);
      comments.push_back(Concat({count, " x ", option.name}));
    }
  }
  combo.comment = Joined(comments, kCommentMax);
  if (of_options > line.total) {
    for (orders::Modifier& modifier : combo.modifiers) modifier.price = modifier.original_price = 0;
  }
  if (!orders::PriceAsShown(combo, {.combo_price = line.total}, decimals)) throw TooLarge();
  return combo;
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

// Makes the order's total that of the app, never by a dish; returns what was added.
Minor Adjust(orders::Order& order, Minor total, UtcMs now) {
  if (!orders::Price(order, now)) throw TooLarge();
  const Minor missing = total - order.totals.total;
  if (missing == 0) return 0;
  if (missing > 0) {
    order.service_fee_price += missing;
  } else {
    order.discounts.push_back(DiscountOf(-missing, kDifference, now));
  }
  if (!orders::Price(order, now)) throw TooLarge();
  return missing;
}

// "PEN 40.00".
std::string AmountOf(Minor amount, const company::Company& company) {
  std::string digits = std::to_string(amount);
  const auto decimals = static_cast<size_t>(company.currency_decimals);
  if (digits.size() <= decimals) digits.insert(0, decimals + 1 - digits.size(), '0');
  if (decimals > 0) digits.insert(digits.size() - decimals, ".");
  return Concat({company.currency, " ", digits});
}

// What the rider, or whoever hands the order over, needs to know: first what is to be collected.
std::vector<std::string> HandingOver(const AppOrder& app_order, const company::Company& company) {
  const Language language = LanguageOf(company);
  std::vector<AppCharge> charges = app_order.charges;
  const Minor pending = app_order.total - app_order.paid_online;
  if (charges.empty()) charges.push_back({.amount = pending});
  if (charges.size() == 1 && charges[0].amount == 0) charges[0].amount = pending;
  if (pending <= 0) charges.clear();
  std::vector<std::string> lines;
  for (const AppCharge& charge : charges) {
    constexpr std::array kOf = {Phrase::kCollect, Phrase::kCollectCash, Phrase::kCollectCard};
    std::string line =
        Say(kOf[static_cast<size_t>(charge.means)], language, AmountOf(charge.amount, company));
    if (!charge.word.empty()) line += Concat({" (", charge.word, ")"});
    lines.push_back(std::move(line));
    if (!charge.change_for) continue;
    lines.push_back(Say(Phrase::kChangeFor, language, AmountOf(*charge.change_for, company)));
  }
  if (app_order.pickup_code) {
    lines.push_back(Say(Phrase::kPickupCode, language, *app_order.pickup_code));
  }
  return lines;
}

// What the staff reads first: that something is missing, and where it is eaten.
std::vector<std::string> CommentLines(const AppOrder& app_order, Language language) {
  std::vector<std::string> lines;
  if (!app_order.unread.empty()) {
    std::vector<std::string> names = app_order.unread;
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    lines.push_back(Say(Phrase::kUnread, language, Taken(JoinedByCommas(names), kNameMax)));
  }
  if (app_order.place) lines.push_back(Say(Phrase::kPlace, language, *app_order.place));
  if (app_order.table) lines.push_back(Say(Phrase::kTable, language, *app_order.table));
  lines.push_back(app_order.comment.value_or(""));
  return lines;
}

void TakeComments(const AppOrder& app_order, const company::Company& company,
                  orders::Order& order) {
  std::vector<std::string> comment = CommentLines(app_order, LanguageOf(company));
  std::vector<std::string> handing_over = HandingOver(app_order, company);
  handing_over.push_back(app_order.delivery_comment.value_or(""));
  if (app_order.service_type == orders::ServiceType::kDelivery) {
    order.delivery_comment = Joined(handing_over, kCommentMax);
  } else {
    comment.insert(comment.end(), handing_over.begin(), handing_over.end());
  }
  order.comment = Joined(comment, orders::kWholeCommentMax);
}

void LinkOptions(db::Session& session, db::CompanyId company,
                 const std::vector<std::optional<std::string>>& codes, orders::Combo& combo) {
  if (!combo.product_id) return;
  for (size_t i = 0; i < std::min(codes.size(), combo.modifiers.size()); ++i) {
    if (!codes[i]) continue;
    const auto modifier = menu::FindModifierBySku(session, company, *combo.product_id, *codes[i]);
    if (!modifier) continue;
    combo.modifiers[i].modifier_id = modifier->id;
    combo.modifiers[i].group_name = menu::FindModifierGroup(session, company, modifier->id);
  }
}

}  // namespace

std::string Taken(std::string_view text, size_t characters_max) {
  std::string taken(Trimmed(text));
  taken.resize(SizeOfFirst(taken, characters_max));
  std::ranges::replace_if(
      taken, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return taken;
}

std::string SourceNameOf(std::string_view app) { return AsciiUpper(app); }
std::string ActorOf(std::string_view app) { return Concat({"app:", app}); }
std::string OnlineMethodOf(std::string_view app) { return Concat({app, "_online"}); }
std::string OfflineMethodOf(std::string_view app) { return Concat({app, "_offline"}); }

Converted Convert(const AppOrder& app_order, const Provider& provider,
                  const company::Company& company, UtcMs now) {
  Converted converted;
  converted.whole = {.order = orders::BlankOrder(company),
                     .actor = ActorOf(provider.name),
                     .public_numbers = orders::PublicNumbers()};
  orders::Order& order = converted.whole.order;
  order.id = NewId(now);
  order.external_id = app_order.external_id;
  order.source = SourceNameOf(provider.name);
  order.service_type = app_order.service_type;
  order.scheduled_delivery_date = app_order.scheduled_for;
  order.order_title = Taken(
      Concat({app_order.is_test ? "TEST " : "", provider.display_name, " ", app_order.display_id}),
      kNameMax);
  TakeComments(app_order, company, order);
  TakeCustomer(app_order.customer, order);
  const bool is_delivery = app_order.service_type == orders::ServiceType::kDelivery;
  order.delivery_price = is_delivery ? app_order.delivery_fee : 0;
  order.service_fee_price = app_order.other_fees + (is_delivery ? 0 : app_order.delivery_fee);
  for (const AppLine& line : app_order.lines) {
    order.combos.push_back(ComboOf(line, company.currency_decimals, now));
    auto& codes = converted.option_codes.emplace_back();
    for (const AppOption& option : line.options) codes.push_back(option.external_code);
  }
  for (const AppDiscount& discount : app_order.discounts) {
    if (discount.amount == 0) continue;
    if (order.discounts.size() + 1 < orders::kDiscountsMax) {  // one is kept for a difference
      order.discounts.push_back(
          DiscountOf(discount.amount, Taken(discount.reason, kReasonMax), now));
    } else {
      order.discounts.back().value += discount.amount;
    }
  }
  converted.adjustment = Adjust(order, app_order.total, now);
  if (app_order.paid_online > 0) {
    orders::Payment payment;
    payment.id = NewId(now);
    payment.amount = app_order.paid_online;
    order.payments.push_back(std::move(payment));
  }
  return converted;
}

void Complete(db::Session& session, const company::Company& company, std::string_view app,
              Converted& converted) {
  orders::Order& order = converted.whole.order;
  orders::LinkToMenu(session, company.company_id, order.combos);
  for (size_t i = 0; i < converted.option_codes.size(); ++i) {
    LinkOptions(session, company.company_id, converted.option_codes[i], order.combos[i]);
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
