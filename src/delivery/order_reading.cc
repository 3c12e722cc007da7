#include "delivery/order_reading.h"

#include <utility>

#include "base/concat.h"
#include "base/decimal.h"
#include "base/problem.h"
#include "net/reply.h"
#include "orders/order.h"

namespace comanda::delivery {
namespace {

// Decimals beyond those of the currency that must be zeros but for binary noise.
constexpr int kExactDecimals = 2;
constexpr int64_t kTens[] = {1, 10, 100};

// Nothing where the number is not whole in these units, noise aside.
std::optional<int64_t> WholeUnits(const Decimal& value, int decimals) {
  if (value.scale <= decimals) return Scaled(value, decimals);
  int64_t finer = value.coefficient;
  bool was_rounded_up = false;
  for (int scale = value.scale; scale > decimals + kExactDecimals; --scale) {
    was_rounded_up = finer % 10 >= 5;
    finer /= 10;
  }
  if (was_rounded_up) ++finer;
  const int left = std::min(value.scale - decimals, kExactDecimals);
  if (finer % kTens[left] != 0) return std::nullopt;
  return finer / kTens[left];
}

}  // namespace

std::optional<json::Value> OrderReading::Find(std::string_view path) const {
  const auto value = net::Find(root_, path);
  if (!value || value->is_null()) return std::nullopt;
  return value;
}

std::vector<OrderReading> OrderReading::Items(std::string_view path, size_t max) const {
  std::vector<OrderReading> items;
  const auto array = Find(path);
  if (!array) return items;
  if (array->kind() != json::Kind::kArray) Fail(path, "must be an array");
  for (const json::Value& item : array->items()) {
    const std::string name = Concat({path_, path, "[", items.size(), "]."});
    if (items.size() == max) Fail(path, Concat({"has more than ", max, " items"}));
    items.emplace_back(item, currency_, decimals_, name);
  }
  return items;
}

std::optional<std::string> OrderReading::Text(std::string_view path) const {
  const auto value = Find(path);
  if (!value) return std::nullopt;
  if (value->kind() == json::Kind::kNumber) return std::string(value->number_text());
  if (value->kind() != json::Kind::kText || value->text().empty()) return std::nullopt;
  return std::string(value->text());
}

std::string OrderReading::RequireText(std::string_view path) const {
  auto text = Text(path);
  if (!text) Fail(path, "is missing");
  return *std::move(text);
}

bool OrderReading::IsTrue(std::string_view path) const {
  const auto value = Find(path);
  return value && value->kind() == json::Kind::kBoolean && value->boolean();
}

std::optional<UtcMs> OrderReading::Instant(std::string_view path) const {
  const auto text = Text(path);
  return text ? ParseInstant(*text) : std::nullopt;
}

std::optional<Minor> OrderReading::MoneyIf(std::string_view path) const {
  const auto value = Find(path);
  if (!value) return std::nullopt;
  if (value->kind() == json::Kind::kObject) {
    RequireCurrency(Concat({path, ".currency"}));
    return RequireMoney(Concat({path, ".value"}));
  }
  if (value->kind() != json::Kind::kNumber) Fail(path, "must be a number");
  const auto decimal = ParseDecimal(value->number_text());
  const auto units = decimal ? WholeUnits(*decimal, decimals_) : std::nullopt;
  if (!units) Fail(path, "has parts of the currency's smallest unit");
  if (*units < 0) Fail(path, "must not be negative");
  if (*units > MoneyMax(decimals_)) Fail(path, "is beyond every bound");
  return *units;
}

Minor OrderReading::Money(std::string_view path) const { return MoneyIf(path).value_or(0); }

Minor OrderReading::RequireMoney(std::string_view path) const {
  const auto money = MoneyIf(path);
  if (!money) Fail(path, "is missing");
  return *money;
}

int64_t OrderReading::RequireQuantity(std::string_view path) const {
  const auto value = Find(path);
  if (!value || value->kind() != json::Kind::kNumber) Fail(path, "must be a number");
  const auto decimal = ParseDecimal(value->number_text());
  const auto quantity = decimal ? Scaled(*decimal, orders::kQuantityDecimals) : std::nullopt;
  constexpr int64_t kMax = 1'000'000'000;
  if (!quantity || *quantity <= 0 || *quantity > kMax) {
    Fail(path, "must be above 0, with at most three decimals");
  }
  return *quantity;
}

void OrderReading::RequireCurrency(std::string_view path) const {
  const auto currency = Text(path);
  if (!currency || *currency == currency_) return;
  Fail(path, Concat({"is ", *currency, ", and the restaurant's currency is ", currency_}));
}

void OrderReading::Fail(std::string_view path, std::string_view message) const {
  throw Invalid(Concat({path_, path}), FieldCode::kInvalidFormat, std::string(message));
}

void SpreadOptions(AppLine& line, Minor unit_price) {
  const auto of_items = TimesThousandths(unit_price, line.quantity);
  Minor of_options = 0;
  for (const AppOption& option : line.options) of_options += option.price;
  const auto spread = TimesThousandths(of_options, line.quantity);
  const bool is_of_one_item = of_items && spread && *of_items + *spread == line.total;
  if (!is_of_one_item) return;
  for (AppOption& option : line.options) {
    option.price = TimesThousandths(option.price, line.quantity).value_or(option.price);
    option.quantity = TimesThousandths(option.quantity, line.quantity).value_or(option.quantity);
  }
}

}  // namespace comanda::delivery
