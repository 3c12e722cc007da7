#pragma once

// The members of an object in a record of the cloud, read tolerantly (cloud/orders/cloud_record.h).
// A member that is missing, null or of another kind than expected is absent; money and quantities
// that are shown but cannot be read exactly make the record unreadable. Pure.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "base/money.h"
#include "base/text.h"
#include "json/reader.h"

namespace comanda::cloud {

class ShownMembers {
 public:
  // `value` may be of any kind: if it is no object, every member is absent.
  explicit ShownMembers(json::Value value) : value_(value) {}

  // Null included.
  std::optional<json::Value> Any(std::string_view name) const;
  std::optional<json::Value> NonNull(std::string_view name) const;

  // A text without forbidden control characters; absent if nothing is left. The digits of a number
  // are a text, too.
  std::optional<std::string> Text(std::string_view name) const;
  // A UUID in lower case, or any other text or number.
  std::optional<std::string> Id(std::string_view name) const;
  // A whole number from 0 to 15 digits.
  std::optional<int64_t> Integer(std::string_view name) const;
  std::optional<bool> Boolean(std::string_view name) const;
  // RFC 3339.
  std::optional<UtcMs> Instant(std::string_view name) const;
  std::optional<ShownMembers> Object(std::string_view name) const;
  // The items; nothing if the member is no array.
  std::optional<std::vector<json::Value>> Items(std::string_view name) const;
  // The index of the text in a list of names, in any case.
  template <size_t kSize>
  std::optional<size_t> OneOf(std::string_view name,
                              const std::array<std::string_view, kSize>& names) const {
    const std::optional<std::string> text = Text(name);
    if (!text) return std::nullopt;
    const auto found = std::ranges::find_if(
        names, [&](std::string_view known) { return AsciiEqualsIgnoreCase(known, *text); });
    if (found == names.end()) return std::nullopt;
    return static_cast<size_t>(found - names.begin());
  }

  // A number, or a text that is one, in units of 10^-decimals from 0 to `max`. Throws
  // UnreadableRecord if it is shown and is none.
  std::optional<int64_t> Number(std::string_view name, int decimals, int64_t max) const;
  std::optional<Minor> Money(std::string_view name, int currency_decimals) const;

  const json::Value& value() const { return value_; }

 private:
  json::Value value_;
};

}  // namespace comanda::cloud
