#include <algorithm>
#include <array>

#include "selftest/check.h"

namespace comanda::selftest {
namespace {

using auth::Scope;

// In minor units, so that all decimals of the currency are used.
constexpr Minor kDishPrice = 1255;
constexpr Minor kDishListPrice = 1300;
constexpr Minor kExtraPrice = 105;
// Odd, so that half of it must be rounded.
constexpr Minor kWeighedPrice = 1001;
constexpr Minor kPackagingPrice = 150;
constexpr Minor kFirstPayment = 1000;
constexpr Minor kTip = 100;
constexpr Minor kHandedOver = 1300;
constexpr Minor kTooMuch = 505;

// A public test number of a card scheme.
constexpr std::string_view kCardNumber = "4111111111111111";
// In major units; above 100, so it cannot be a percentage.
constexpr std::string_view kAmountDiscount = "150";

std::optional<json::Value> Combo(const Probe& probe, std::string_view name) {
  return probe.take_away.record.Row("data.combos", "product_name", name);
}

// Compares one amount of a record with minor units.
void CheckAmount(const Probe& probe, std::optional<json::Value> row, std::string_view field,
                 Minor expected, Finding& finding) {
  const auto found = Find(row, field);
  finding.True(probe.MinorOf(found) == expected, std::string(field), probe.Amount(expected),
               Shown(found));
}

Minor AmountAt(const Probe& probe, const Reply& reply, std::string_view path) {
  return probe.MinorOf(reply.Find(path)).value_or(0);
}

Minor SumOfCombos(const Probe& probe, const Reply& reply) {
  Minor sum = 0;
  for (const json::Value& combo : reply.Items("data.combos")) {
    const auto cancelled = Find(combo, "canceled_at");
    if (!cancelled || !cancelled->is_null()) continue;
    sum += probe.MinorOf(Find(combo, "combo_price")).value_or(0);
  }
  return sum;
}

// The id of the last item of a list.
std::string NewestId(const Reply& reply, std::string_view list) {
  return reply.Text(std::string(list) + ".last.id");
}

void CheckSum(const Probe& probe, std::string_view path, Minor expected, Finding& finding) {
  finding.Number(probe.take_away.record, path, probe.Amount(expected));
}

// Items.

void AddsItems(Probe& probe, Finding& finding) {
  const std::string body =
      Filled(R"({"combos":[{"product_name":"Selftest dish","quantity":2,"variant_price":$,)"
             R"("variant_original_price":$,"comment":"please ignore",)"
             R"("modifiers":[{"name":"Selftest extra","quantity":3,"price":$}]},)"
             R"({"product_name":"Selftest by weight","quantity":0.5,"variant_price":$}]})",
             {probe.Amount(kDishPrice), probe.Amount(kDishListPrice), probe.Amount(kExtraPrice),
              probe.Amount(kWeighedPrice)});
  const Reply reply = probe.Write(probe.take_away, "POST", "combos", body);
  if (!finding.Status(reply, 200)) return;
  finding.Same("items of the order", "2", std::to_string(reply.Items("data.combos").size()));
}

void AnswersLineTotals(Probe& probe, Finding& finding) {
  const auto dish = Combo(probe, "Selftest dish");
  if (!dish) return finding.NotChecked("the order has no items");
  CheckAmount(probe, dish, "variant_price", 2 * kDishPrice, finding);
  CheckAmount(probe, dish, "variant_original_price", 2 * kDishListPrice, finding);
}

void MultipliesModifiers(Probe& probe, Finding& finding) {
  const auto dish = Combo(probe, "Selftest dish");
  if (!dish) return finding.NotChecked("the order has no items");
  CheckAmount(probe, dish, "modifiers.0.price", 3 * 2 * kExtraPrice, finding);
  CheckAmount(probe, dish, "modifiers.0.original_price", 3 * 2 * kExtraPrice, finding);
  const auto quantity = Find(dish, "modifiers.0.quantity");
  finding.Same("modifiers.0.quantity", "6", Shown(quantity));
  CheckAmount(probe, dish, "modifiers_price", 3 * 2 * kExtraPrice, finding);
}

void TellsTheGroupOfAModifier(Probe& probe, Finding& finding) {
  static constexpr std::array<std::string_view, 1> kGroup = {"group_name"};
  const auto extra = Find(Combo(probe, "Selftest dish"), "modifiers.0");
  if (!extra) return finding.NotChecked("the order has no modifier");
  finding.Members(extra, kGroup, "a modifier");
}

void AddsUpALine(Probe& probe, Finding& finding) {
  const auto dish = Combo(probe, "Selftest dish");
  if (!dish) return finding.NotChecked("the order has no items");
  const auto amount = [&](std::string_view field) {
    return probe.MinorOf(Find(dish, field)).value_or(0);
  };
  CheckAmount(probe, dish, "combo_price", amount("variant_price") + amount("modifiers_price"),
              finding);
  CheckAmount(probe, dish, "combo_original_price",
              amount("variant_original_price") + amount("modifiers.0.original_price"), finding);
}

void SellsByWeight(Probe& probe, Finding& finding) {
  const auto weighed = Combo(probe, "Selftest by weight");
  if (!weighed) return finding.NotChecked("the order has no items");
  finding.Same("quantity", "0.5", Shown(Find(weighed, "quantity")));
  CheckAmount(probe, weighed, "variant_price", (kWeighedPrice + 1) / 2, finding);
}

void AddsUpTheOrder(Probe& probe, Finding& finding) {
  const Reply& order = probe.take_away.record;
  if (order.Items("data.combos").empty()) return finding.NotChecked("the order has no items");
  CheckSum(probe, "data.subtotal", SumOfCombos(probe, order), finding);
}

void RefusesBadItems(Probe& probe, Finding& finding) {
  const std::string body =
      Filled(R"({"combos":[{"product_name":"Selftest good","quantity":1,"variant_price":$},)"
             R"({"quantity":"2","variant_price":-1}]})",
             {probe.Amount(kDishPrice)});
  const Reply reply = probe.Write(probe.take_away, "POST", "combos", body);
  finding.Invalid(reply, "combos[1].product_name", "required", "a bad item");
  finding.Invalid(reply, "combos[1].quantity", "wrong_type", "a bad item");
  finding.Invalid(reply, "combos[1].variant_price", "must_not_be_negative", "a bad item");
}

void AddsAllOrNothing(Probe& probe, Finding& finding) {
  const Reply order = probe.Get(probe.take_away.Path());
  if (!finding.Status(order, 200)) return;
  finding.True(!order.Row("data.combos", "product_name", "Selftest good"), "the order",
               "without the good item beside the bad one", "has it");
}

void RefusesParts(Probe& probe, Finding& finding) {
  const std::string price = (probe.decimals() == 0 ? "1." : probe.Amount(kDishPrice)) + "5";
  const Reply reply = probe.Write(
      probe.take_away, "POST", "combos",
      Filled(R"({"combos":[{"product_name":"Selftest parts","quantity":1,"variant_price":$}]})",
             {price}));
  finding.Invalid(reply, "combos[0].variant_price", "too_many_decimals", price);
}

// A variant with a sku, of a product whose stock is not controlled.
std::optional<json::Value> VariantWithSku(const Probe& probe) {
  for (const json::Value& category : probe.menu.Items("data.categories")) {
    const auto products = Find(category, "products");
    if (!products || products->kind() != json::Kind::kArray) continue;
    for (const json::Value& product : products->items()) {
      const auto stock = Find(product, "stock_enabled");
      if (!stock || stock->kind() != json::Kind::kBoolean || stock->boolean()) continue;
      const auto variant = Find(product, "variants.0");
      if (!TextAt(variant, "sku").empty()) return variant;
    }
  }
  return std::nullopt;
}

void LinksToTheMenu(Probe& probe, Finding& finding) {
  const auto variant = VariantWithSku(probe);
  if (!variant) return finding.NotChecked("the menu has no sku without stock control");
  const auto sku = Find(variant, "sku");
  const Reply reply = probe.Write(probe.take_away, "POST", "combos",
                                  Filled(R"({"combos":[{"sku":$,"quantity":1,"variant_price":$}]})",
                                         {sku->Canonical(), probe.Amount(kDishPrice)}));
  if (!finding.Status(reply, 200)) return;
  finding.Text(reply, "data.combos.last.product_id", TextAt(variant, "product_id"));
  finding.Text(reply, "data.combos.last.variant_id", TextAt(variant, "id"));
  finding.Number(reply, "data.combos.last.variant_price", probe.Amount(kDishPrice));
}

void RemovesItems(Probe& probe, Finding& finding) {
  const std::string id = NewestId(probe.take_away.record, "data.combos");
  if (id.empty()) return finding.NotChecked("the order has no items");
  const Reply first = probe.Write(probe.take_away, "DELETE", "combos/" + id);
  if (!finding.Status(first, 200)) return;
  finding.Set(first, "data.combos.last.canceled_at");
  finding.Number(first, "data.subtotal", probe.Amount(SumOfCombos(probe, first)));
  const Reply second = probe.Write(probe.take_away, "DELETE", "combos/" + id);
  if (finding.Status(second, 200, "the second removal")) {
    finding.SameRecord("the order after the second removal", first.Find("data"),
                       second.Find("data"));
  }
}

// Discounts.

void TakesLargeAmounts(Probe& probe, Finding& finding) {
  const Reply reply = probe.Write(
      probe.take_away, "POST", "discounts",
      Filled(R"({"type":"AMOUNT","value":$,"reason":"selftest"})", {std::string(kAmountDiscount)}));
  if (!finding.Status(reply, 200)) return;
  finding.Text(reply, "data.discounts.last.type", "AMOUNT");
  finding.Number(reply, "data.discounts.last.value", kAmountDiscount);
}

void CapsDiscounts(Probe& probe, Finding& finding) {
  const Reply& order = probe.take_away.record;
  if (order.Items("data.discounts").empty()) return finding.NotChecked("the order has no discount");
  Minor value = 150;
  for (int i = 0; i < probe.decimals(); ++i) value *= 10;
  const Minor most = AmountAt(probe, order, "data.subtotal") +
                     AmountAt(probe, order, "data.delivery_price") +
                     AmountAt(probe, order, "data.packaging_price");
  finding.Number(order, "data.discounts.last.amount", probe.Amount(std::min(value, most)));
}

void RemovesDiscounts(Probe& probe, Finding& finding) {
  const std::string id = NewestId(probe.take_away.record, "data.discounts");
  if (id.empty()) return finding.NotChecked("the order has no discount");
  const Reply first = probe.Write(probe.take_away, "DELETE", "discounts/" + id);
  if (!finding.Status(first, 200)) return;
  finding.Empty(first, "data.discounts");
  finding.Problem(probe.Write(probe.take_away, "DELETE", "discounts/" + id), 404, "not_found",
                  "the second removal");
}

void RefusesMoreThanAll(Probe& probe, Finding& finding) {
  const Reply reply =
      probe.Write(probe.take_away, "POST", "discounts", R"({"type":"PERCENTAGE","value":100.5})");
  finding.Problem(reply, 422, "validation_failed");
  finding.True(reply.Row("errors", "field", "value").has_value(), "errors[]", "names value",
               Shown(reply.Find("errors")));
}

void TakesPercentages(Probe& probe, Finding& finding) {
  const Reply reply =
      probe.Write(probe.take_away, "POST", "discounts", R"({"type":"PERCENTAGE","value":12.5})");
  if (!finding.Status(reply, 200)) return;
  const Minor effect = PercentageOf(AmountAt(probe, reply, "data.subtotal"), 125'000);
  finding.Number(reply, "data.discounts.last.amount", probe.Amount(effect));
}

void AddsUpTheTotal(Probe& probe, Finding& finding) {
  const Reply reply =
      probe.Write(probe.take_away, "PATCH", "",
                  Filled(R"({"packaging_price":$})", {probe.Amount(kPackagingPrice)}));
  if (!finding.Status(reply, 200)) return;
  finding.Number(reply, "data.packaging_price", probe.Amount(kPackagingPrice));
  const Minor total = AmountAt(probe, reply, "data.subtotal") -
                      AmountAt(probe, reply, "data.total_discounts") +
                      AmountAt(probe, reply, "data.delivery_price") +
                      AmountAt(probe, reply, "data.packaging_price") +
                      AmountAt(probe, reply, "data.service_fee_price");
  finding.Number(reply, "data.total", probe.Amount(total));
}

// Payments.

// Cash if allowed for the order, else the first method allowed for its service type.
std::string PaymentMethod(const Probe& probe) {
  std::string first;
  for (const json::Value& method : probe.payment_methods.Items("data")) {
    const auto types = Find(method, "service_types");
    if (!types || types->kind() != json::Kind::kArray) continue;
    const auto items = types->items();
    if (std::ranges::none_of(
            items, [](const json::Value& type) { return TextAt(type, "") == "TAKEAWAY"; })) {
      continue;
    }
    const std::string code = TextAt(method, "code");
    if (code == "cash") return code;
    if (first.empty()) first = code;
  }
  return first.empty() ? "cash" : first;
}

void TakesAPayment(Probe& probe, Finding& finding) {
  const Reply reply = probe.Write(
      probe.take_away, "POST", "payments",
      Filled(R"({"payment_method_code":"$","amount":$,"tip_amount":$,"received_amount":$})",
             {PaymentMethod(probe), probe.Amount(kFirstPayment), probe.Amount(kTip),
              probe.Amount(kHandedOver)}));
  if (!finding.Status(reply, 200)) return;
  finding.Number(reply, "data.payments.last.amount", probe.Amount(kFirstPayment));
  finding.Number(reply, "data.payments.last.tip_amount", probe.Amount(kTip));
  finding.Text(reply, "data.payments.last.payment_method.code", PaymentMethod(probe));
  finding.Null(reply, "data.payments.last.canceled_at");
}

bool HasPayments(const Probe& probe, Finding& finding) {
  if (!probe.take_away.record.Items("data.payments").empty()) return true;
  finding.NotChecked("the order has no payment");
  return false;
}

void TellsTheChange(Probe& probe, Finding& finding) {
  if (!HasPayments(probe, finding)) return;
  finding.Number(probe.take_away.record, "data.payments.last.change_amount",
                 probe.Amount(kHandedOver - kFirstPayment - kTip));
}

void KeepsTipsApart(Probe& probe, Finding& finding) {
  if (!HasPayments(probe, finding)) return;
  CheckSum(probe, "data.total_tips", kTip, finding);
  CheckSum(probe, "data.total_paid", kFirstPayment, finding);
}

void KnowsWhatIsPending(Probe& probe, Finding& finding) {
  if (!HasPayments(probe, finding)) return;
  const Reply& order = probe.take_away.record;
  const Minor total = AmountAt(probe, order, "data.total");
  const Minor paid = AmountAt(probe, order, "data.total_paid");
  CheckSum(probe, "data.pending_amount", std::max<Minor>(0, total - paid), finding);
  finding.Boolean(order, "data.paid", paid >= total);
}

void TakesTooMuch(Probe& probe, Finding& finding) {
  if (!HasPayments(probe, finding)) return;
  const Minor amount = AmountAt(probe, probe.take_away.record, "data.pending_amount") + kTooMuch;
  const Reply reply = probe.Write(probe.take_away, "POST", "payments",
                                  Filled(R"({"payment_method_code":"$","amount":$})",
                                         {PaymentMethod(probe), probe.Amount(amount)}));
  if (!finding.Status(reply, 200)) return;
  finding.Number(reply, "data.overpayment", probe.Amount(kTooMuch));
  finding.Boolean(reply, "data.paid", true);
  finding.Set(reply, "data.paid_at");
}

void RefusesCardNumbers(Probe& probe, Finding& finding) {
  const Reply reply =
      probe.Write(probe.take_away, "POST", "payments",
                  Filled(R"({"payment_method_code":"$","amount":$,"reference":"$"})",
                         {PaymentMethod(probe), probe.Amount(1), std::string(kCardNumber)}));
  finding.Invalid(reply, "reference", "looks_like_card_number");
}

void RefusesUnknownMethods(Probe& probe, Finding& finding) {
  const Reply reply = probe.Write(
      probe.take_away, "POST", "payments",
      Filled(R"({"payment_method_code":"selftest-pebbles","amount":$})", {probe.Amount(1)}));
  finding.Invalid(reply, "payment_method_code", "not_found");
}

void RefusesACancelWhilePaid(Probe& probe, Finding& finding) {
  if (!HasPayments(probe, finding)) return;
  finding.Problem(probe.Write(probe.take_away, "POST", "cancel", R"({"reason":"selftest"})"), 422,
                  "order_has_active_payments");
}

void CancelsPayments(Probe& probe, Finding& finding) {
  if (!HasPayments(probe, finding)) return;
  // Copied, because every cancel replaces it.
  const Reply before = probe.take_away.record;
  std::string last;
  for (const json::Value& payment : before.Items("data.payments")) {
    last = TextAt(payment, "id");
    finding.Status(probe.Write(probe.take_away, "DELETE", "payments/" + last), 200);
  }
  const Reply after = probe.take_away.record;
  for (const json::Value& payment : after.Items("data.payments")) {
    const auto cancelled = Find(payment, "canceled_at");
    finding.True(cancelled && !cancelled->is_null(), "canceled_at of a payment", "a time",
                 Shown(cancelled));
  }
  CheckSum(probe, "data.total_paid", 0, finding);
  const Reply again = probe.Write(probe.take_away, "DELETE", "payments/" + last);
  if (finding.Status(again, 200, "the second cancel")) {
    finding.SameRecord("the order after the second cancel", after.Find("data"), again.Find("data"));
  }
}

constexpr auth::ScopeSet kWrite = Needs(Scope::kOrdersWrite);

constexpr std::array kChecks = {
    Check{"Items are added to an order", "7", "POST .../combos answers 200 with the order",
          Stage::kOrder, kWrite, AddsItems},
    Check{"Prices are sent per unit and answered per line", "7",
          "variant_price: unit price in the request, unit price x item quantity in the answer",
          Stage::kOrder, kWrite, AnswersLineTotals},
    Check{"Modifiers are multiplied by their quantity and the item's", "7",
          "modifiers[].price: unit price x modifier quantity x item quantity", Stage::kOrder,
          kWrite, MultipliesModifiers},
    Check{"A modifier names its group", "7",
          "modifiers[].group_name: its group's name, null where it has none", Stage::kOrder, kWrite,
          TellsTheGroupOfAModifier, Promise::kContract},
    Check{"A line is its item and its modifiers", "7",
          "combo_price = variant_price + modifiers_price; combo_original_price likewise",
          Stage::kOrder, kWrite, AddsUpALine},
    Check{"What is sold by weight is rounded once, half away from zero", "1",
          "Rounding: half away from zero, to the minor unit, once", Stage::kOrder, kWrite,
          SellsByWeight},
    Check{"The subtotal is the sum of the lines", "7",
          "subtotal: sum of combo_price of active combos", Stage::kOrder, kWrite, AddsUpTheOrder},
    Check{"Every wrong field of an item is named", "2",
          "errors[] of {field: combos[0].quantity, code, message}", Stage::kOrder, kWrite,
          RefusesBadItems},
    Check{"One bad item keeps all out", "7", "1 to 200, all or nothing", Stage::kOrder,
          Needs(Scope::kOrdersRead, Scope::kOrdersWrite), AddsAllOrNothing},
    Check{"A price with more decimals than the currency has is refused", "1",
          "422 too_many_decimals. What was charged is never rounded silently", Stage::kOrder,
          kWrite, RefusesParts},
    Check{"An item is linked to the menu by its sku, at the price that was sent", "7",
          "sku: if it matches, the line is linked; the price sent is the truth", Stage::kOrder,
          Needs(Scope::kOrdersWrite, Scope::kMenuRead), LinksToTheMenu},
    Check{"A removed item stays with canceled_at and costs nothing", "7",
          "DELETE .../combos/{comboId}: 200 with the order; already cancelled: 200 unchanged",
          Stage::kOrder, kWrite, RemovesItems},
    Check{"A discount of an AMOUNT above 100 is taken", "7", "an AMOUNT above 100 is accepted",
          Stage::kOrder, kWrite, TakesLargeAmounts},
    Check{"Discounts never exceed the order", "7",
          "The sum never exceeds subtotal + delivery + packaging + fee; value stays, amount shows "
          "the effect",
          Stage::kOrder, kWrite, CapsDiscounts},
    Check{"A removed discount is gone", "7", "DELETE removes the row; again: 404", Stage::kOrder,
          kWrite, RemovesDiscounts},
    Check{"A PERCENTAGE above 100 is refused", "7", "PERCENTAGE above 0 to 100; above 100: 422",
          Stage::kOrder, kWrite, RefusesMoreThanAll},
    Check{"A PERCENTAGE is taken of the subtotal", "7", "Percentages are taken of subtotal",
          Stage::kOrder, kWrite, TakesPercentages},
    Check{"The total is the sum of its parts", "7",
          "total = subtotal - total_discounts + delivery_price + packaging_price + "
          "service_fee_price",
          Stage::kOrder, kWrite, AddsUpTheTotal},
    Check{"A payment is registered", "7",
          "POST .../payments: payment_method_id or payment_method_code, amount, tip_amount",
          Stage::kOrder, kWrite, TakesAPayment},
    Check{"The change is what was handed over less amount and tip", "7",
          "change_amount is received - amount - tip", Stage::kOrder, kWrite, TellsTheChange},
    Check{"Tips are no part of what is paid", "7",
          "tips are not part of it; total_paid = sum of amount of active payments", Stage::kOrder,
          kWrite, KeepsTipsApart},
    Check{"What is pending is the total less what is paid", "7",
          "pending_amount = max(0, total - total_paid); paid = total_paid >= total", Stage::kOrder,
          kWrite, KnowsWhatIsPending},
    Check{"An overpayment is taken and shown", "7",
          "More than the total is accepted; overpayment = max(0, total_paid - total)",
          Stage::kOrder, kWrite, TakesTooMuch},
    Check{"A card number in a payment is refused", "7", "422 looks_like_card_number", Stage::kOrder,
          kWrite, RefusesCardNumbers, Promise::kContract},
    Check{"A payment method that does not exist is refused", "7",
          "payment_method_id or payment_method_code: active and enabled for the service type",
          Stage::kOrder, kWrite, RefusesUnknownMethods},
    Check{"An order with payments is not cancelled", "7",
          "active payments: 422 order_has_active_payments", Stage::kOrder, kWrite,
          RefusesACancelWhilePaid},
    Check{"A cancelled payment stays with canceled_at and pays nothing", "7",
          "DELETE: sets canceled_at, 200 with the order; again: 200 unchanged", Stage::kOrder,
          kWrite, CancelsPayments},
};

}  // namespace

std::span<const Check> MoneyChecks() { return kChecks; }

}  // namespace comanda::selftest
