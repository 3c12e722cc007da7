#pragma once

// Money as a whole number of minor units of the company's currency (contract section 1, Money
// inside). 1250 minor units of PEN are 12.50. Products and sums never wrap: a function returns
// nothing, or its bounds exclude overflow.

#include <cstdint>
#include <optional>
#include <string_view>

namespace comanda {

using Minor = int64_t;

// The largest amount, and the largest sum, that the API accepts: 9,999,999,999.99, with the digits
// after the point adapted to the currency. 999'999'999'999 minor units with two decimals,
// 9'999'999'999 with none, 9'999'999'999'990 with three. `decimals` is 0 to 4.
Minor MoneyMax(int decimals);

// The number of decimals that ISO 4217 gives a currency; nothing for an unknown code. Upper case
// only.
std::optional<int> CurrencyDecimals(std::string_view code);

// The sum; nothing if it overflows 64 bits.
std::optional<Minor> CheckedAdd(Minor a, Minor b);

// price x quantity, with the quantity in thousandths (1.5 kg is 1500), rounded once, half away from
// zero, to the minor unit. Nothing if it overflows.
std::optional<Minor> TimesThousandths(Minor price, int64_t quantity_thousandths);

// base x percentage, with the percentage in units of 0.0001 % (100 % is 1'000'000), rounded half
// away from zero. The percentage is 0 to 100 %.
Minor PercentageOf(Minor base, int64_t percentage_ten_thousandths);

}  // namespace comanda
