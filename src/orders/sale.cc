#include "orders/sale.h"

#include <charconv>
#include <optional>

#include "base/check.h"

namespace comanda::orders {
namespace {

constexpr char kFieldEnd = 31;
constexpr char kRowEnd = 30;

void Append(std::string& packed, std::string_view text) { packed.append(text) += kFieldEnd; }
void Append(std::string& packed, int64_t number) { Append(packed, std::to_string(number)); }

std::string_view OrEmpty(const std::optional<std::string>& text) {
  return text ? std::string_view(*text) : std::string_view();
}

}  // namespace

std::string PackPayments(const std::vector<Payment>& payments) {
  std::string packed;
  for (const Payment& payment : payments) {
    Append(packed, payment.method.id);
    Append(packed, payment.amount);
    Append(packed, payment.tip_amount);
    Append(packed, int64_t{payment.canceled_at.has_value()});
    packed += kRowEnd;
  }
  return packed;
}

std::string PackLines(const std::vector<Combo>& combos) {
  std::string packed;
  for (const Combo& combo : combos) {
    Append(packed, OrEmpty(combo.product_id));
    Append(packed, OrEmpty(combo.variant_id));
    Append(packed, combo.product_id ? std::string_view() : combo.product_name);
    Append(packed, combo.quantity);
    Append(packed, combo.combo_price);
    Append(packed, int64_t{combo.canceled_at.has_value()});
    for (const Modifier& modifier : combo.modifiers) {
      Append(packed, modifier.name);
      Append(packed, modifier.quantity);
      Append(packed, modifier.price);
    }
    packed += kRowEnd;
  }
  return packed;
}

bool SaleReader::Next(SoldPayment& payment) {
  SkipRow();
  if (rest_.empty()) return false;
  payment = {.method_id = Text()};
  payment.amount = Number();
  payment.tip_amount = Number();
  payment.canceled = Number() != 0;
  in_row_ = true;
  return true;
}

bool SaleReader::Next(SoldLine& line) {
  SkipRow();
  if (rest_.empty()) return false;
  line.product_id = Text();
  line.variant_id = Text();
  line.name = Text();
  line.quantity = Number();
  line.price = Number();
  line.canceled = Number() != 0;
  in_row_ = true;
  return true;
}

bool SaleReader::Next(SoldModifier& modifier) {
  if (!in_row_ || rest_.starts_with(kRowEnd)) return false;
  modifier.name = Text();
  modifier.quantity = Number();
  modifier.price = Number();
  return true;
}

std::string_view SaleReader::Text() {
  const size_t end = rest_.find(kFieldEnd);
  CHECK(end != rest_.npos, "every field of a sale has its end");
  const std::string_view text = rest_.substr(0, end);
  rest_.remove_prefix(end + 1);
  return text;
}

int64_t SaleReader::Number() {
  const std::string_view digits = Text();
  int64_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  CHECK(read.ec == std::errc() && read.ptr == digits.data() + digits.size(),
        "amounts of a sale are integers");
  return number;
}

// To the row behind the one that was begun.
void SaleReader::SkipRow() {
  if (!in_row_) return;
  in_row_ = false;
  const size_t end = rest_.find(kRowEnd);
  CHECK(end != rest_.npos, "every row of a sale has its end");
  rest_.remove_prefix(end + 1);
}

}  // namespace comanda::orders
