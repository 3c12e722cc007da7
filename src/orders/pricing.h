#pragma once

// Computes the prices and totals of an order (contract section 7, Money; section 1, Rounding). All
// sums are bounded by MoneyMax() (base/money.h). Pure.

#include <optional>

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

}  // namespace comanda::orders
