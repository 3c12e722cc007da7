#pragma once

// What a restaurant sets for its kitchen (contract section 20).

#include <array>
#include <cstdint>

#include "orders/order.h"

namespace comanda::kitchen {

// When a ticket is shown as to be hurried, and as late, in minutes after it was opened.
struct Threshold {
  int64_t warn_minutes = 0;
  int64_t late_minutes = 0;

  bool operator==(const Threshold&) const = default;
};

inline constexpr int64_t kLeadMinutesMax = 1'440;
inline constexpr int64_t kWarnMinutesMax = 600;
inline constexpr int64_t kLateMinutesMax = 1'440;

struct Settings {
  int64_t lead_minutes = 20;  // how long before its time a scheduled order is begun
  // By orders::ServiceType.
  std::array<Threshold, orders::kServiceTypeNames.size()> thresholds = {
      Threshold{8, 15}, Threshold{8, 15}, Threshold{12, 20}, Threshold{10, 18}};

  bool operator==(const Settings&) const = default;
};

}  // namespace comanda::kitchen
