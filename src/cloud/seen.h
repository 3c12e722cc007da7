#pragma once

// What the cloud showed of an order when it was taken last. It tells a change that was made in the
// cloud from the cloud's old state, which a change here has not reached yet. The journal stores it
// as JSON.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace comanda::cloud {

struct Seen {
  int64_t version = 0;   // 0: not shown
  UtcMs updated_at = 0;  // 0: not shown
  std::string status;    // empty: the order has not been taken yet
  // The body that assigns the rider (cloud/bodies.h); empty: no rider. Nothing: not shown.
  std::optional<std::string> rider;
  // The name; empty: none. Nothing: not shown.
  std::optional<std::string> delivery_status;
  std::optional<std::string> delivery_status_reason;
  std::optional<std::string> cancel_reason;
  // The creation dates of both sides have been compared.
  bool is_dated = false;

  bool operator==(const Seen&) const = default;
};

std::string ToJson(const Seen& seen);
// A member that is missing, or another than ToJson() writes, has not been shown.
Seen SeenFromJson(std::string_view json);

}  // namespace comanda::cloud
