#pragma once

// Exact decimals: what a JSON number says, without binary floating point in between.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace comanda {

// coefficient x 10^-scale with no trailing zero in the coefficient (12.50 is {125, 1}; 1200 is
// {1200, 0}: the scale is never negative).
struct Decimal {
  int64_t coefficient = 0;
  int scale = 0;

  bool operator==(const Decimal&) const = default;
};

// Reads the text of a JSON number, exponents included. Nothing where the value does not fit in 18
// significant digits and 18 decimals (the caller answers out_of_range).
std::optional<Decimal> ParseDecimal(std::string_view json_number);

// The value in units of 10^-decimals (price 12.5 with 2 decimals: 1250); nothing where it has more
// decimals than that (too_many_decimals) or does not fit.
std::optional<int64_t> Scaled(Decimal value, int decimals);

// Appends the shortest exact text of units x 10^-decimals: 1250 with 2 decimals is "12.5", 100 is
// "1", -5 is "-0.05".
void AppendScaled(std::string& out, int64_t units, int decimals);

// The canonical text of a JSON number for comparisons: "12.50", "1.25e1" and "12.5" are the same.
// Falls back to the text as it stands where the number is too large for a Decimal.
std::string CanonicalNumber(std::string_view json_number);

}  // namespace comanda
