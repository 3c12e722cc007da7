#pragma once

// Exact decimal numbers. Numbers of JSON bodies (money, quantities, percentages) are converted from
// their text to integers without ever passing through binary floating point.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace comanda {

// The value coefficient x 10^-scale, normalised: no trailing zero in the coefficient of a fraction
// (12.50 is {125, 1}), and the scale is never negative (1200 is {1200, 0}).
struct Decimal {
  int64_t coefficient = 0;
  int scale = 0;

  bool operator==(const Decimal&) const = default;
};

// Parses a number in JSON's grammar (RFC 8259 section 6), exponent included. Nothing if malformed,
// or if the value needs more than 18 significant digits or 18 decimals; the caller reports the
// latter as out_of_range.
std::optional<Decimal> ParseDecimal(std::string_view json_number);

// Converts to units of 10^-decimals: 12.5 with 2 decimals is 1250. Nothing if the value has more
// decimals (the caller reports too_many_decimals) or overflows 64 bits. Never rounds.
std::optional<int64_t> Scaled(Decimal value, int decimals);

// Appends units x 10^-decimals as the shortest exact decimal: 1250 with 2 decimals is "12.5", 100
// is "1", -5 is "-0.05". `decimals` is 0 to 18.
void AppendScaled(std::string& out, int64_t units, int decimals);

// One text for each numeric value, for comparing requests: "12.50", "1.25e1" and "12.5" all give
// "12.5". A number that does not fit a Decimal is returned unchanged.
std::string CanonicalNumber(std::string_view json_number);

}  // namespace comanda
