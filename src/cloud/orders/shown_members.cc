#include "cloud/orders/shown_members.h"

#include "base/concat.h"
#include "base/decimal.h"
#include "base/id.h"
#include "cloud/orders/cloud_record.h"

namespace comanda::cloud {
namespace {

// The largest number of digits that every reader of JSON keeps exact.
constexpr int64_t kIntegerMax = 999'999'999'999'999;

std::string WithoutControls(std::string_view text) {
  std::string clean = WithUnixLines(text);
  if (HasForbiddenControl(clean)) {
    std::erase_if(clean, [](char c) { return HasForbiddenControl({&c, 1}); });
  }
  return clean;
}

}  // namespace

std::optional<json::Value> ShownMembers::Any(std::string_view name) const {
  if (value_.kind() != json::Kind::kObject) return std::nullopt;
  return value_.Find(name);
}

std::optional<json::Value> ShownMembers::NonNull(std::string_view name) const {
  const std::optional<json::Value> value = Any(name);
  return value && !value->is_null() ? value : std::nullopt;
}

std::optional<std::string> ShownMembers::Text(std::string_view name) const {
  const std::optional<json::Value> value = NonNull(name);
  if (!value) return std::nullopt;
  if (value->kind() == json::Kind::kNumber) return std::string(value->number_text());
  if (value->kind() != json::Kind::kText) return std::nullopt;
  std::string text = WithoutControls(value->text());
  if (text.empty()) return std::nullopt;
  return text;
}

std::optional<std::string> ShownMembers::Id(std::string_view name) const {
  const std::optional<std::string> text = Text(name);
  if (!text) return std::nullopt;
  const std::optional<std::string> id = ParseId(*text);
  return id ? id : text;
}

std::optional<int64_t> ShownMembers::Integer(std::string_view name) const {
  const std::optional<json::Value> value = NonNull(name);
  if (!value || value->kind() != json::Kind::kNumber) return std::nullopt;
  const std::optional<Decimal> decimal = ParseDecimal(value->number_text());
  const std::optional<int64_t> number = decimal ? Scaled(*decimal, 0) : std::nullopt;
  return number && *number >= 0 && *number <= kIntegerMax ? number : std::nullopt;
}

std::optional<bool> ShownMembers::Boolean(std::string_view name) const {
  const std::optional<json::Value> value = NonNull(name);
  if (!value || value->kind() != json::Kind::kBoolean) return std::nullopt;
  return value->boolean();
}

std::optional<UtcMs> ShownMembers::Instant(std::string_view name) const {
  const std::optional<json::Value> value = NonNull(name);
  if (!value || value->kind() != json::Kind::kText) return std::nullopt;
  return ParseInstant(value->text());
}

std::optional<ShownMembers> ShownMembers::Object(std::string_view name) const {
  const std::optional<json::Value> value = NonNull(name);
  if (!value || value->kind() != json::Kind::kObject) return std::nullopt;
  return ShownMembers(*value);
}

std::optional<std::vector<json::Value>> ShownMembers::Items(std::string_view name) const {
  const std::optional<json::Value> value = NonNull(name);
  if (!value || value->kind() != json::Kind::kArray) return std::nullopt;
  return value->items();
}

std::optional<int64_t> ShownMembers::Number(std::string_view name, int decimals,
                                            int64_t max) const {
  const std::optional<json::Value> value = NonNull(name);
  if (!value) return std::nullopt;
  std::optional<Decimal> decimal;
  if (value->kind() == json::Kind::kNumber) decimal = ParseDecimal(value->number_text());
  if (value->kind() == json::Kind::kText) decimal = ParseDecimal(value->text());
  const std::optional<int64_t> number = decimal ? Scaled(*decimal, decimals) : std::nullopt;
  if (number && *number >= 0 && *number <= max) return number;
  throw UnreadableRecord{Concat({name, " is no number of at most ", int64_t{decimals},
                                 " decimals from 0 to the largest that is allowed"})};
}

std::optional<Minor> ShownMembers::Money(std::string_view name, int currency_decimals) const {
  return Number(name, currency_decimals, MoneyMax(currency_decimals));
}

}  // namespace comanda::cloud
