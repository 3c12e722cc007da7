#pragma once

// Reads values of an order as an app sends it. Lenient where the meaning is clear (a member that is
// missing, a number as text, an element of a list that is none), strict where a mistake would cost
// money or a dish: those throw Refusal validation_failed that names the member. Pure.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "base/decimal.h"
#include "base/money.h"
#include "delivery/orders/app_order.h"
#include "json/reader.h"

namespace comanda::delivery {

// Paths are like "total.orderAmount"; a member that is null is missing.
class OrderReading {
 public:
  // The names of members that could not be read and are left out; outlives the reading.
  using Unread = std::vector<std::string>;

  OrderReading(json::Value root, std::string_view currency, int currency_decimals,
               Unread* unread = nullptr, std::string path = "")
      : root_(root),
        currency_(currency),
        decimals_(currency_decimals),
        unread_(unread),
        path_(std::move(path)) {}

  // The objects of an array, each with its name for mistakes; none where it is missing. What is no
  // object is noted, and so is a member that is no array.
  std::vector<OrderReading> Items(std::string_view path) const;
  // The same of the lists of all these names.
  std::vector<OrderReading> Items(std::initializer_list<std::string_view> paths) const;
  // Notes a member that is there and left out; the object itself where `path` is empty.
  void NoteUnread(std::string_view path = "") const;

  std::optional<std::string> Text(std::string_view path) const;  // of a text or a number
  // The first that is there.
  std::optional<std::string> Text(std::initializer_list<std::string_view> paths) const;
  std::string RequireText(std::string_view path) const;
  bool IsTrue(std::string_view path) const;
  std::optional<UtcMs> Instant(std::string_view path) const;

  std::optional<Minor> MoneyIf(std::string_view path) const;  // nothing where it is missing
  bool Has(std::string_view path) const { return Find(path).has_value(); }

  // An amount in minor units, not negative: a number, or {"value": 12.5, "currency": "BRL"}, whose
  // currency must be the company's. Binary noise, such as 27.799999999999997, is rounded away; a
  // part of a minor unit is refused.
  Minor Money(std::string_view path) const;  // 0 where it is missing
  Minor RequireMoney(std::string_view path) const;
  // The amount of so many thousandths; 0 where it is missing.
  Minor MoneyTimes(std::string_view path, int64_t thousandths) const;
  // In thousandths, above 0; nothing where it is missing or no such number.
  std::optional<int64_t> Quantity(std::string_view path) const;
  // In minutes; 0 where it is missing.
  int64_t Minutes(std::string_view path) const;

  void RequireCurrency(std::string_view path) const;  // where it is there

  [[noreturn]] void Fail(std::string_view path, std::string_view message) const;

 private:
  std::optional<json::Value> Find(std::string_view path) const;
  std::optional<Decimal> Number(std::string_view path) const;

  json::Value root_;
  std::string currency_;
  int decimals_;
  Unread* unread_;
  std::string path_;
};

// Whether an option's numbers are of one item or of the whole line is not documented by every app:
// the line's total decides. Makes them of the line.
void SpreadOptions(AppLine& line, Minor unit_price);

// The options of a line with those of each option. `price` is that of the option in all, by its
// quantity in thousandths.
using OptionPrice = std::function<Minor(const OrderReading& option, int64_t quantity)>;
void ReadOptions(const OrderReading& item, const OptionPrice& price, AppLine& line);

// The lines of one order at most.
inline constexpr size_t kLinesMax = 500;

}  // namespace comanda::delivery
