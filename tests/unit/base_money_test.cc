#include "base/money.h"

#include <gtest/gtest.h>

#include <limits>

namespace comanda {
namespace {

constexpr Minor kLargest = std::numeric_limits<Minor>::max();
constexpr Minor kSmallest = std::numeric_limits<Minor>::min();

TEST(Money, BoundsFollowTheDecimalsOfTheCurrency) {
  EXPECT_EQ(MoneyMax(0), 9'999'999'999);
  EXPECT_EQ(MoneyMax(2), 999'999'999'999);
  EXPECT_EQ(MoneyMax(3), 9'999'999'999'990);
}

TEST(Money, KnowsTheDecimalsOfCurrencies) {
  for (const char* code : {"PEN", "BRL", "MXN", "COP", "USD", "EUR"}) {
    EXPECT_EQ(CurrencyDecimals(code), 2) << code;
  }
  EXPECT_EQ(CurrencyDecimals("CLP"), 0);
  EXPECT_EQ(CurrencyDecimals("PYG"), 0);
  EXPECT_EQ(CurrencyDecimals("KWD"), 3);
  EXPECT_EQ(CurrencyDecimals("AED"), 2);  // the first and the last of the table
  EXPECT_EQ(CurrencyDecimals("ZWG"), 2);
}

TEST(Money, KnowsNoInventedCurrency) {
  for (const char* code : {"", "XXX", "usd", "US", "USDT", "AAA", "ZZZ"}) {
    EXPECT_EQ(CurrencyDecimals(code), std::nullopt) << code;
  }
}

TEST(Money, AddsUntilSixtyFourBitsAreFull) {
  EXPECT_EQ(CheckedAdd(1250, -50), 1200);
  EXPECT_EQ(CheckedAdd(kLargest - 1, 1), kLargest);
  EXPECT_EQ(CheckedAdd(kLargest, 1), std::nullopt);
  EXPECT_EQ(CheckedAdd(kSmallest, -1), std::nullopt);
}

TEST(Money, RoundsHalfAwayFromZero) {
  EXPECT_EQ(TimesThousandths(333, 1500), 500);    // 499.5
  EXPECT_EQ(TimesThousandths(-333, 1500), -500);  // -499.5
  EXPECT_EQ(TimesThousandths(1, 499), 0);
  EXPECT_EQ(TimesThousandths(1, 500), 1);
  EXPECT_EQ(TimesThousandths(-1, 499), 0);
  EXPECT_EQ(TimesThousandths(-1, 500), -1);
  EXPECT_EQ(TimesThousandths(250, 2000), 500);
}

TEST(Money, MultipliesLargeAmountsWithoutLosingAUnit) {
  EXPECT_EQ(TimesThousandths(999'999'999'999, 9'999'000), 9'998'999'999'990'001);
  EXPECT_EQ(TimesThousandths(kLargest, 1000), kLargest);
  EXPECT_EQ(TimesThousandths(kSmallest, 1000), kSmallest);
  EXPECT_EQ(TimesThousandths(kLargest, 1001), std::nullopt);
  EXPECT_EQ(TimesThousandths(kSmallest, 1001), std::nullopt);
}

TEST(Money, TakesPercentagesWithFourDecimals) {
  EXPECT_EQ(PercentageOf(1000, 100'000), 100);  // 10 %
  EXPECT_EQ(PercentageOf(1005, 500'000), 503);  // 502.5
  EXPECT_EQ(PercentageOf(-1005, 500'000), -503);
  EXPECT_EQ(PercentageOf(999, 1'000'000), 999);
  EXPECT_EQ(PercentageOf(1'000'000, 1), 1);  // 0.0001 %
  EXPECT_EQ(PercentageOf(499'999, 1), 0);
  EXPECT_EQ(PercentageOf(500'000, 1), 1);
  EXPECT_EQ(PercentageOf(kLargest, 1'000'000), kLargest);
}

}  // namespace
}  // namespace comanda
