#include "orders/pricing.h"

#include <algorithm>

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
  totals.paid = totals.total_paid >= totals.total && (totals.total > 0 || HasActiveCombo(order));
  if (!totals.paid) {
    order.paid_at = std::nullopt;
  } else if (!order.paid_at) {
    order.paid_at = now;
  }
  return true;
}

}  // namespace comanda::orders
