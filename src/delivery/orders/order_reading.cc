#include "delivery/orders/order_reading.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "base/decimal.h"
#include "base/problem.h"
#include "base/text.h"
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

std::vector<OrderReading> OrderReading::Items(std::string_view path) const {
  std::vector<OrderReading> items;
  const auto array = Find(path);
  if (!array) return items;
  if (array->kind() != json::Kind::kArray) {
    NoteUnread(path);
    return items;
  }
  size_t number = 0;
  for (const json::Value& item : array->items()) {
    const std::string name = Concat({path, "[", number++, "]"});
    if (item.kind() == json::Kind::kObject) {
      items.emplace_back(item, currency_, decimals_, unread_, Concat({path_, name, "."}));
    } else {
      NoteUnread(name);
    }
  }
  return items;
}

std::vector<OrderReading> OrderReading::Items(std::initializer_list<std::string_view> paths) const {
  std::vector<OrderReading> items;
  for (const std::string_view path : paths) {
    for (OrderReading& item : Items(path)) items.push_back(std::move(item));
  }
  return items;
}

void OrderReading::NoteUnread(std::string_view path) const {
  if (unread_ == nullptr) return;
  std::string name = Concat({path_, path});
  if (name.ends_with('.')) name.pop_back();
  unread_->push_back(std::move(name));
}

std::optional<std::string> OrderReading::Text(std::string_view path) const {
  const auto value = Find(path);
  if (!value) return std::nullopt;
  if (value->kind() == json::Kind::kNumber) return std::string(value->number_text());
  if (value->kind() != json::Kind::kText || value->text().empty()) return std::nullopt;
  return std::string(value->text());
}

std::optional<std::string> OrderReading::Text(std::initializer_list<std::string_view> paths) const {
  for (const std::string_view path : paths) {
    if (auto text = Text(path)) return text;
  }
  return std::nullopt;
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
  const auto decimal = Number(path);
  if (!decimal) Fail(path, "must be a number");
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

Minor OrderReading::MoneyTimes(std::string_view path, int64_t thousandths) const {
  const auto total = TimesThousandths(Money(path), thousandths);
  if (!total) Fail(path, "is beyond every bound");
  return *total;
}

// Also one that is written as a text.
std::optional<Decimal> OrderReading::Number(std::string_view path) const {
  const auto text = Text(path);
  return text ? ParseDecimal(Trimmed(*text)) : std::nullopt;
}

std::optional<int64_t> OrderReading::Quantity(std::string_view path) const {
  const auto decimal = Number(path);
  const auto quantity = decimal ? Scaled(*decimal, orders::kQuantityDecimals) : std::nullopt;
  constexpr int64_t kMax = 1'000'000'000;
  if (!quantity || *quantity <= 0 || *quantity > kMax) return std::nullopt;
  return quantity;
}

int64_t OrderReading::Minutes(std::string_view path) const {
  constexpr int64_t kMax = 24 * 60;
  const auto decimal = Number(path);
  const auto minutes = decimal ? Scaled(*decimal, 0) : std::nullopt;
  return minutes ? std::clamp<int64_t>(*minutes, 0, kMax) : 0;
}

void OrderReading::RequireCurrency(std::string_view path) const {
  const auto currency = Text(path);
  if (!currency || *currency == currency_) return;
  Fail(path, Concat({"is ", *currency, ", and the restaurant's currency is ", currency_}));
}

void OrderReading::Fail(std::string_view path, std::string_view message) const {
  throw Invalid(Concat({path_, path}), FieldCode::kInvalidFormat, std::string(message));
}

namespace {

// The option of an option at most: an answer of a foreign server must not be walked for ever.
constexpr int kLevelsMax = 8;

struct Level {
  std::string prefix;                            // the names of the options above: "Combo: "
  int64_t quantity = orders::kOneInThousandths;  // of the option above
  int number = 1;
};

void ReadLevel(const OrderReading& above, const OptionPrice& price, const Level& level,
               AppLine& line) {
  for (const OrderReading& option :
       above.Items({"options", "customizations", "customization", "subitems"})) {
    const auto name = option.Text({"name", "externalCode", "sku"});
    if (!name || level.number > kLevelsMax) {
      option.NoteUnread();
      continue;
    }
    // Without a quantity it is one; with one that says nothing too, and somebody looks.
    const auto quantity = option.Quantity("quantity");
    if (!quantity && option.Has("quantity")) option.NoteUnread("quantity");
    const int64_t of_one = quantity.value_or(orders::kOneInThousandths);
    const int64_t in_all = TimesThousandths(of_one, level.quantity).value_or(of_one);
    const std::string full_name = level.prefix + *name;
    line.options.push_back({.name = full_name,
                            .group_name = option.Text({"groupName", "categoryDescription"}),
                            .external_code = option.Text({"externalCode", "sku"}),
                            .quantity = in_all,
                            .price = price(option, in_all)});
    if (const auto words = option.Text({"observations", "specialInstructions", "comments"})) {
      line.AddComment(Concat({full_name, ": ", *words}));
    }
    ReadLevel(option, price, {full_name + ": ", in_all, level.number + 1}, line);
  }
}

}  // namespace

void ReadOptions(const OrderReading& item, const OptionPrice& price, AppLine& line) {
  ReadLevel(item, price, {}, line);
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
