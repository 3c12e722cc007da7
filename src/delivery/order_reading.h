#pragma once

// Reads values of an order as an app sends it. Lenient where an app is free (a member that is
// missing, an id that is a number), strict where a mistake would cost money: those throw Refusal
// validation_failed that names the member. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/money.h"
#include "delivery/app_order.h"
#include "json/reader.h"

namespace comanda::delivery {

// Paths are like "total.orderAmount"; a member that is null is missing.
class OrderReading {
 public:
  OrderReading(json::Value root, std::string_view currency, int currency_decimals,
               std::string path = "")
      : root_(root), currency_(currency), decimals_(currency_decimals), path_(std::move(path)) {}

  // The items of an array, each with its name for mistakes; none where it is missing.
  std::vector<OrderReading> Items(std::string_view path, size_t max) const;

  std::optional<std::string> Text(std::string_view path) const;  // of a text or a number
  std::string RequireText(std::string_view path) const;
  bool IsTrue(std::string_view path) const;
  std::optional<UtcMs> Instant(std::string_view path) const;

  bool Has(std::string_view path) const { return Find(path).has_value(); }

  // An amount in minor units, not negative: a number, or {"value": 12.5, "currency": "BRL"}, whose
  // currency must be the company's. Binary noise, such as 27.799999999999997, is rounded away; a
  // part of a minor unit is refused.
  Minor Money(std::string_view path) const;  // 0 where it is missing
  Minor RequireMoney(std::string_view path) const;
  // In thousandths, above 0.
  int64_t RequireQuantity(std::string_view path) const;

  void RequireCurrency(std::string_view path) const;  // where it is there

  [[noreturn]] void Fail(std::string_view path, std::string_view message) const;

 private:
  std::optional<json::Value> Find(std::string_view path) const;
  std::optional<Minor> MoneyIf(std::string_view path) const;

  json::Value root_;
  std::string currency_;
  int decimals_;
  std::string path_;
};

// Whether an option's numbers are of one item or of the whole line is not documented by every app:
// the line's total decides. Makes them of the line.
void SpreadOptions(AppLine& line, Minor unit_price);

// The lines of one order at most.
inline constexpr size_t kLinesMax = 500;

}  // namespace comanda::delivery
