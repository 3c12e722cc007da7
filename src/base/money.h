#pragma once

// Money is a whole number of minor units of the company's currency (contract section 1).

#include <cstdint>
#include <optional>
#include <string_view>

namespace comanda {

using Minor = int64_t;

// 9,999,999,999.99 in the currency's decimals: the bound of every amount and of every sum. With two
// decimals 999'999'999'999 minor units; with none 9'999'999'999; with three 9'999'999'999'990.
Minor MoneyMax(int decimals);

// ISO 4217 exponents of the currencies that restaurants use; nothing for an unknown code.
std::optional<int> CurrencyDecimals(std::string_view code);

// Sums and differences that stay inside 64 bits; nothing on overflow.
std::optional<Minor> CheckedAdd(Minor a, Minor b);

// price x quantity, where quantity is in thousandths (1.5 kg is 1500), rounded half away from zero
// to the minor unit, once. Nothing on overflow.
std::optional<Minor> TimesThousandths(Minor price, int64_t quantity_thousandths);

// base x percentage, where 100 % is 1'000'000 (four decimals), rounded half away from zero.
Minor PercentageOf(Minor base, int64_t percentage_ten_thousandths);

}  // namespace comanda
