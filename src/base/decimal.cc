#include "base/decimal.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace comanda {
namespace {

constexpr int kDigitsMax = 18;
// Larger than any exponent that the zeros of a body of megabytes could cancel.
constexpr int64_t kExponentMax = 1'000'000'000'000;

int64_t PowerOfTen(int exponent) {
  int64_t power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

// Accumulates digits; leading and trailing zeros do not count as significant.
class SignificantDigits {
 public:
  // False if the number has too many significant digits.
  bool Push(int digit) {
    if (digit == 0) {
      if (coefficient_ != 0) ++pending_zeros_;
      return true;
    }
    if (count_ + pending_zeros_ + 1 > kDigitsMax) return false;
    const int more = static_cast<int>(pending_zeros_) + 1;
    coefficient_ = coefficient_ * PowerOfTen(more) + digit;
    count_ += more;
    pending_zeros_ = 0;
    return true;
  }

  int64_t coefficient() const { return coefficient_; }
  int count() const { return count_; }
  int64_t trailing_zeros() const { return pending_zeros_; }

 private:
  int64_t coefficient_ = 0;
  int count_ = 0;
  int64_t pending_zeros_ = 0;
};

// Parses "[+-]digits", saturating at +-kExponentMax.
std::optional<int64_t> ParseExponent(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return std::nullopt;
  int64_t value = 0;
  for (const char c : text) {
    if (!IsDigit(c)) return std::nullopt;
    value = std::min(value * 10 + (c - '0'), kExponentMax);
  }
  return negative ? -value : value;
}

// digits x 10^power as a Decimal; nothing if it does not fit.
std::optional<Decimal> Normalised(const SignificantDigits& digits, int64_t power, bool negative) {
  int64_t coefficient = digits.coefficient();
  if (coefficient == 0) return Decimal{};
  int scale = 0;
  if (power >= 0) {
    if (digits.count() + power > kDigitsMax) return std::nullopt;
    coefficient *= PowerOfTen(static_cast<int>(power));
  } else {
    if (-power > kDigitsMax) return std::nullopt;
    scale = static_cast<int>(-power);
  }
  return Decimal{negative ? -coefficient : coefficient, scale};
}

}  // namespace

std::optional<Decimal> ParseDecimal(std::string_view json_number) {
  std::string_view rest = json_number;
  const bool negative = !rest.empty() && rest[0] == '-';
  if (negative) rest.remove_prefix(1);
  if (rest.empty() || !IsDigit(rest[0])) return std::nullopt;
  if (rest.size() > 1 && rest[0] == '0' && IsDigit(rest[1])) return std::nullopt;

  SignificantDigits digits;
  bool fits = true;
  size_t i = 0;
  for (; i < rest.size() && IsDigit(rest[i]); ++i) fits = fits && digits.Push(rest[i] - '0');
  int64_t decimals = 0;
  if (i < rest.size() && rest[i] == '.') {
    const size_t first = ++i;
    for (; i < rest.size() && IsDigit(rest[i]); ++i) fits = fits && digits.Push(rest[i] - '0');
    decimals = static_cast<int64_t>(i - first);
    if (decimals == 0) return std::nullopt;
  }
  int64_t exponent = 0;
  if (i < rest.size()) {
    if (rest[i] != 'e' && rest[i] != 'E') return std::nullopt;
    const std::optional<int64_t> parsed = ParseExponent(rest.substr(i + 1));
    if (!parsed) return std::nullopt;
    exponent = *parsed;
  }
  if (!fits) return std::nullopt;
  return Normalised(digits, digits.trailing_zeros() - decimals + exponent, negative);
}

std::optional<int64_t> Scaled(Decimal value, int decimals) {
  if (value.scale > decimals) return std::nullopt;
  int64_t units = value.coefficient;
  for (int i = value.scale; i < decimals; ++i) {
    if (__builtin_mul_overflow(units, int64_t{10}, &units)) return std::nullopt;
  }
  return units;
}

void AppendScaled(std::string& out, int64_t units, int decimals) {
  CHECK(decimals >= 0 && decimals <= kDigitsMax, "decimals fit in 64 bits");
  uint64_t magnitude = static_cast<uint64_t>(units);
  if (units < 0) {
    // Unlike negation, defined for the smallest value too.
    magnitude = ~magnitude + 1;
    out += '-';
  }
  while (decimals > 0 && magnitude % 10 == 0) {
    magnitude /= 10;
    --decimals;
  }
  std::string digits = std::to_string(magnitude);
  const size_t width = static_cast<size_t>(decimals) + 1;
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  const size_t whole = digits.size() - static_cast<size_t>(decimals);
  out.append(digits, 0, whole);
  if (decimals > 0) {
    out += '.';
    out.append(digits, whole);
  }
}

std::string CanonicalNumber(std::string_view json_number) {
  const std::optional<Decimal> value = ParseDecimal(json_number);
  if (!value) return std::string(json_number);
  std::string out;
  AppendScaled(out, value->coefficient, value->scale);
  return out;
}

}  // namespace comanda
