#pragma once

// The money of an order (contract section 7, Money; section 1, Rounding). Pure.

#include <optional>

#include "orders/order.h"

namespace comanda::orders {

// unit price x quantity, rounded once; nothing where it passes the bound of money.
std::optional<Minor> LineTotal(Minor unit_price, int64_t quantity_thousandths,
                               int currency_decimals);

// What one unit cost and how many modifiers one item had, where only the line's totals are known
// (rows of older programs): the quotient, rounded half away from zero.
Minor UnitPrice(Minor line_total, int64_t quantity_thousandths);
int64_t UnitQuantity(int64_t modifier_thousandths, int64_t item_thousandths);

// Fills modifiers_price, combo_price and combo_original_price from the combo's line totals. False
// where one passes the bound of money.
[[nodiscard]] bool SumUp(Combo& combo, int currency_decimals);

// Fills the effect of every discount, the totals and paid_at from the rows and prices of the order.
// False where a sum passes the bound of money; the order is then of no use.
//
// Percentages are of the subtotal, every discount on the same undiscounted base; where their sum
// would exceed what is to be paid, the latest is cut first.
[[nodiscard]] bool Price(Order& order, UtcMs now);

}  // namespace comanda::orders
