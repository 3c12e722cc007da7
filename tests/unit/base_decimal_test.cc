#include "base/decimal.h"

#include <gtest/gtest.h>

#include <limits>

namespace comanda {
namespace {

std::string Shown(int64_t units, int decimals) {
  std::string out;
  AppendScaled(out, units, decimals);
  return out;
}

TEST(Decimal, ReadsPlainNumbersWithoutTrailingZeros) {
  EXPECT_EQ(ParseDecimal("12.50"), (Decimal{125, 1}));
  EXPECT_EQ(ParseDecimal("1200"), (Decimal{1200, 0}));
  EXPECT_EQ(ParseDecimal("-0.05"), (Decimal{-5, 2}));
  EXPECT_EQ(ParseDecimal("100.00"), (Decimal{100, 0}));
}

TEST(Decimal, ReadsExponentsInBothDirections) {
  EXPECT_EQ(ParseDecimal("1.25e1"), (Decimal{125, 1}));
  EXPECT_EQ(ParseDecimal("125E-1"), (Decimal{125, 1}));
  EXPECT_EQ(ParseDecimal("12e+2"), (Decimal{1200, 0}));
  EXPECT_EQ(ParseDecimal("1200e-2"), (Decimal{12, 0}));
  EXPECT_EQ(ParseDecimal("12.5e0"), (Decimal{125, 1}));
}

TEST(Decimal, ReadsEveryZeroAsTheSame) {
  for (const char* zero : {"0", "-0", "0.000", "0e5", "0E-400", "0.0e400", "-0.0"}) {
    EXPECT_EQ(ParseDecimal(zero), (Decimal{0, 0})) << zero;
  }
}

TEST(Decimal, RefusesMoreThanEighteenSignificantDigitsOrDecimals) {
  EXPECT_EQ(ParseDecimal("999999999999999999"), (Decimal{999'999'999'999'999'999, 0}));
  EXPECT_EQ(ParseDecimal("1000000000000000000"), std::nullopt);
  EXPECT_EQ(ParseDecimal("1234567890123456789"), std::nullopt);
  EXPECT_EQ(ParseDecimal("0.000000000000000001"), (Decimal{1, 18}));
  EXPECT_EQ(ParseDecimal("0.0000000000000000001"), std::nullopt);
  EXPECT_EQ(ParseDecimal("1e17"), (Decimal{100'000'000'000'000'000, 0}));
  EXPECT_EQ(ParseDecimal("1e18"), std::nullopt);
  EXPECT_EQ(ParseDecimal("1e400"), std::nullopt);
  EXPECT_EQ(ParseDecimal("1e-400"), std::nullopt);
  EXPECT_EQ(ParseDecimal("1e99999999999999999999999"), std::nullopt);
}

TEST(Decimal, IgnoresZerosThatSayNothing) {
  EXPECT_EQ(ParseDecimal("2.5" + std::string(1000, '0')), (Decimal{25, 1}));
  EXPECT_EQ(ParseDecimal("1" + std::string(400, '0') + "e-400"), (Decimal{1, 0}));
  EXPECT_EQ(ParseDecimal("0." + std::string(400, '0') + "1e401"), (Decimal{1, 0}));
}

TEST(Decimal, RefusesWhatIsNotAJsonNumber) {
  for (const char* text : {"", "-", "+1", ".5", "1.", "01", "1e", "1e+", "1.5x", "0x10", " 1",
                           "NaN", "1,5", "--1", "1e5.0"}) {
    EXPECT_EQ(ParseDecimal(text), std::nullopt) << text;
  }
}

TEST(Decimal, ScalesExactlyOrNotAtAll) {
  EXPECT_EQ(Scaled({125, 1}, 2), 1250);
  EXPECT_EQ(Scaled({12, 0}, 0), 12);
  EXPECT_EQ(Scaled({1255, 3}, 2), std::nullopt);
  EXPECT_EQ(Scaled({-5, 2}, 2), -5);
  EXPECT_EQ(Scaled({999'999'999'999'999'999, 0}, 0), 999'999'999'999'999'999);
  EXPECT_EQ(Scaled({999'999'999'999'999'999, 0}, 2), std::nullopt);
}

TEST(Decimal, ShowsTheShortestExactText) {
  EXPECT_EQ(Shown(1250, 2), "12.5");
  EXPECT_EQ(Shown(100, 2), "1");
  EXPECT_EQ(Shown(-5, 2), "-0.05");
  EXPECT_EQ(Shown(0, 2), "0");
  EXPECT_EQ(Shown(0, 0), "0");
  EXPECT_EQ(Shown(1200, 0), "1200");
  EXPECT_EQ(Shown(999'999'999'999, 2), "9999999999.99");
  EXPECT_EQ(Shown(1, 18), "0.000000000000000001");
  EXPECT_EQ(Shown(std::numeric_limits<int64_t>::min(), 0), "-9223372036854775808");
  EXPECT_EQ(Shown(std::numeric_limits<int64_t>::max(), 3), "9223372036854775.807");
}

TEST(Decimal, GivesEqualNumbersOneText) {
  for (const char* text : {"12.50", "1.25e1", "12.5", "125E-1"}) {
    EXPECT_EQ(CanonicalNumber(text), "12.5") << text;
  }
  EXPECT_EQ(CanonicalNumber("-0"), "0");
  EXPECT_EQ(CanonicalNumber("1e400"), "1e400");
}

}  // namespace
}  // namespace comanda
