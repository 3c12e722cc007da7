#include "orders/pricing.h"

#include <algorithm>
#include <string>

#include "base/decimal.h"
#include "base/problem.h"

namespace comanda::orders {
namespace {

// A sum that records whether it has ever exceeded the bound of money.
class Sum {
 public:
  explicit Sum(int currency_decimals) : max_(MoneyMax(currency_decimals)) {}

  Sum& Add(Minor amount) {
    const std::optional<Minor> sum = CheckedAdd(value_, amount);
    within_ = within_ && sum && *sum <= max_;
    value_ = sum.value_or(value_);
    return *this;
  }
  Minor value() const { return value_; }
  bool within() const { return within_; }

 private:
  Minor max_;
  Minor value_ = 0;
  bool within_ = true;
};

Minor WishedEffect(const Discount& discount, Minor subtotal) {
  switch (discount.type) {
    case DiscountType::kAmount:
      return discount.value;
    case DiscountType::kPercentage:
      return PercentageOf(subtotal, discount.value);
  }
  return 0;
}

// Sets the amount of each discount, at most what the earlier ones have left; returns their sum.
Minor ShareOut(std::vector<Discount>& discounts, Minor subtotal, Minor base) {
  Minor room = base;
  for (Discount& discount : discounts) {
    discount.amount = std::min(WishedEffect(discount, subtotal), room);
    room -= discount.amount;
  }
  return base - room;
}

bool HasActiveCombo(const Order& order) {
  return std::ranges::any_of(order.combos, [](const Combo& combo) { return !combo.canceled_at; });
}

bool IsCovered(const Order& order) {
  const Totals& totals = order.totals;
  return totals.total_paid >= totals.total && (totals.total > 0 || HasActiveCombo(order));
}

UtcMs LastPaymentAt(const Order& order) {
  UtcMs last = order.created_at;
  for (const Payment& payment : order.payments) {
    if (!payment.canceled_at) last = std::max(last, payment.created_at);
  }
  return last;
}

bool SumPayments(const Order& order, Totals& totals) {
  Sum paid(order.currency_decimals);
  Sum tips(order.currency_decimals);
  for (const Payment& payment : order.payments) {
    if (payment.canceled_at) continue;
    paid.Add(payment.amount);
    tips.Add(payment.tip_amount);
  }
  totals.total_paid = paid.value();
  totals.total_tips = tips.value();
  return paid.within() && tips.within();
}

}  // namespace

std::optional<Minor> LineTotal(Minor unit_price, int64_t quantity_thousandths,
                               int currency_decimals) {
  const std::optional<Minor> total = TimesThousandths(unit_price, quantity_thousandths);
  if (!total || *total > MoneyMax(currency_decimals)) return std::nullopt;
  return total;
}

Minor UnitPrice(Minor line_total, int64_t quantity_thousandths) {
  if (quantity_thousandths <= 0) return line_total;
  const __int128 scaled = static_cast<__int128>(line_total) * kOneInThousandths;
  return static_cast<Minor>((scaled + quantity_thousandths / 2) / quantity_thousandths);
}

int64_t UnitQuantity(int64_t modifier_thousandths, int64_t item_thousandths) {
  if (item_thousandths <= 0) return 1;
  return (modifier_thousandths + item_thousandths / 2) / item_thousandths;
}

bool SumUp(Combo& combo, int currency_decimals) {
  Sum modifiers(currency_decimals);
  Sum original(currency_decimals);
  original.Add(combo.variant_original_price);
  for (const Modifier& modifier : combo.modifiers) {
    modifiers.Add(modifier.price);
    original.Add(modifier.original_price);
  }
  Sum price(currency_decimals);
  price.Add(combo.variant_price).Add(modifiers.value());
  combo.modifiers_price = modifiers.value();
  combo.combo_price = price.value();
  combo.combo_original_price = original.value();
  return modifiers.within() && original.within() && price.within();
}

bool Price(Order& order, UtcMs now) {
  Sum subtotal(order.currency_decimals);
  for (const Combo& combo : order.combos) {
    if (!combo.canceled_at) subtotal.Add(combo.combo_price);
  }
  Sum base = subtotal;
  base.Add(order.delivery_price).Add(order.packaging_price).Add(order.service_fee_price);

  Totals& totals = order.totals;
  if (!base.within() || !SumPayments(order, totals)) return false;
  totals.subtotal = subtotal.value();
  totals.total_discounts = ShareOut(order.discounts, totals.subtotal, base.value());
  totals.total = base.value() - totals.total_discounts;
  totals.paid = IsCovered(order);
  if (!totals.paid) {
    order.paid_at = std::nullopt;
  } else if (!order.paid_at) {
    order.paid_at = now;
  }
  return true;
}

void PriceOrRefuse(Order& order, UtcMs now, std::string_view field) {
  if (Price(order, now)) return;
  std::string most;
  AppendScaled(most, MoneyMax(order.currency_decimals), order.currency_decimals);
  throw Invalid(std::string(field), FieldCode::kOutOfRange,
                "makes a sum of the order larger than " + most + ", the most that is possible");
}

bool PriceAsShown(Combo& combo, const ShownPrices& shown, int currency_decimals) {
  Minor of_modifiers = 0;
  for (Modifier& modifier : combo.modifiers) {
    of_modifiers += modifier.price;
    modifier.unit_quantity = UnitQuantity(modifier.quantity, combo.quantity);
    modifier.unit_price = UnitPrice(modifier.price, modifier.quantity);
    modifier.original_unit_price = UnitPrice(modifier.original_price, modifier.quantity);
  }
  const Minor rest = std::max<Minor>(
      0, shown.combo_price.value_or(0) - shown.modifiers_price.value_or(of_modifiers));
  combo.variant_price = shown.variant_price.value_or(rest);
  combo.variant_original_price = shown.variant_original_price.value_or(combo.variant_price);
  combo.variant_unit_price = UnitPrice(combo.variant_price, combo.quantity);
  combo.variant_original_unit_price = UnitPrice(combo.variant_original_price, combo.quantity);
  if (!SumUp(combo, currency_decimals)) return false;
  combo.modifiers_price = shown.modifiers_price.value_or(combo.modifiers_price);
  combo.combo_price = shown.combo_price.value_or(combo.combo_price);
  combo.combo_original_price = shown.combo_original_price.value_or(combo.combo_original_price);
  return true;
}

bool PriceAsShown(Order& order, const ShownTotals& shown) {
  const std::optional<UtcMs> paid_at = order.paid_at;
  if (!Price(order, LastPaymentAt(order))) return false;
  Totals& totals = order.totals;
  Minor of_discounts = 0;
  for (size_t i = 0; i < order.discounts.size(); ++i) {
    Minor& amount = order.discounts[i].amount;
    if (i < shown.discount_amounts.size()) amount = shown.discount_amounts[i].value_or(amount);
    of_discounts += amount;
  }
  totals.subtotal = shown.subtotal.value_or(totals.subtotal);
  totals.total_discounts = shown.total_discounts.value_or(of_discounts);
  const Minor sum = totals.subtotal - totals.total_discounts + order.delivery_price +
                    order.packaging_price + order.service_fee_price;
  totals.total = shown.total.value_or(std::max<Minor>(0, sum));
  totals.total_tips = shown.total_tips.value_or(totals.total_tips);
  totals.total_paid = shown.total_paid.value_or(totals.total_paid);
  totals.paid = shown.paid.value_or(IsCovered(order));
  if (!totals.paid) {
    order.paid_at.reset();
  } else if (paid_at) {
    order.paid_at = paid_at;
  }
  return true;
}

}  // namespace comanda::orders
