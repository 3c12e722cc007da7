#pragma once

// Computes the prices and totals of an order (contract section 7, Money; section 1, Rounding). All
// sums are bounded by MoneyMax() (base/money.h). Pure.

#include <optional>
#include <string_view>
#include <vector>

#include "orders/order.h"

namespace comanda::orders {

// unit_price times the quantity, rounded once, half away from zero. Nothing if it exceeds the
// bound.
std::optional<Minor> LineTotal(Minor unit_price, int64_t quantity_thousandths,
                               int currency_decimals);

// The price of one unit and the number of modifiers per item, computed from line totals: rows of
// older programs have no others. The quotient is rounded half away from zero.
Minor UnitPrice(Minor line_total, int64_t quantity_thousandths);
int64_t UnitQuantity(int64_t modifier_thousandths, int64_t item_thousandths);

// Computes modifiers_price, combo_price and combo_original_price from the combo's line totals.
// False if one exceeds the bound.
[[nodiscard]] bool SumUp(Combo& combo, int currency_decimals);

// Computes Discount::amount, the totals and paid_at from the rows and prices of the order. False if
// a sum exceeds the bound; the order must then be discarded.
//
// Each percentage is taken of the undiscounted subtotal. If the discounts together exceed the sum
// to be paid, the latest ones are reduced first.
[[nodiscard]] bool Price(Order& order, UtcMs now);
// The same. Refusal out_of_range that names `field` instead of false.
void PriceOrRefuse(Order& order, UtcMs now, std::string_view field);

// Orders made elsewhere (orders/external_order.h): the prices that another system shows are taken
// as they are, and the others are computed from them.

struct ShownPrices {
  std::optional<Minor> combo_price, modifiers_price;
  std::optional<Minor> variant_price, variant_original_price, combo_original_price;
};
// Completes a combo whose quantity and modifiers are set. What is left of its price without the
// modifiers is the price of the variant. False if a computed price exceeds the bound.
[[nodiscard]] bool PriceAsShown(Combo& combo, const ShownPrices& shown, int currency_decimals);

struct ShownTotals {
  std::optional<Minor> subtotal, total_discounts, total, total_tips, total_paid;
  std::optional<bool> paid;
  std::vector<std::optional<Minor>> discount_amounts = {};  // in the order of the discounts
};
// Completes an order whose rows and prices are set, and whose paid_at is the one that is shown. An
// order without it was paid by its last payment. False as Price().
[[nodiscard]] bool PriceAsShown(Order& order, const ShownTotals& shown);

}  // namespace comanda::orders
