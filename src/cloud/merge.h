#pragma once

// Decides between the two sides of an order, for the parts that both may change (contract section
// 15.5). A state of the cloud counts as a change of the cloud only if it differs from what the
// cloud showed last (cloud/seen.h), and from what this box has sent. Pure.

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "orders/order.h"

namespace comanda::cloud {

// Riders are the bodies that assign them (cloud/bodies.h), in the cloud's terms; empty: no rider.
struct RiderSides {
  std::optional<std::string> here;  // nothing: a rider that cannot be sent to the cloud
  std::string there;
  std::string image;  // what the cloud has once the steps that wait are accepted
  std::optional<std::string> seen;
  bool is_own = false;  // a step of this box has set or removed the rider that the cloud shows
  bool waits = false;   // such a step waits
  UtcMs here_at = 0, there_at = 0;
};
// Whether the rider of the cloud becomes the rider here: the cloud has changed it, and this box has
// not, or earlier.
bool TakesRider(const RiderSides& sides);

struct DeliverySides {
  std::optional<orders::DeliveryStatus> here, there, image;
  std::optional<std::string> reason_here, reason_there;
  std::optional<std::string> seen, seen_reason;  // Seen::delivery_status, of the same name
  bool here_by_rider = false;                    // orders::Order::delivery_status_by_rider
  bool waits = false;                            // a step that may change it waits
};
enum class DeliveryChoice : uint8_t {
  kKeep,      // that of this box stays
  kTake,      // that of the cloud is taken
  kTakeVia,   // the same, through DRIVER_ON_THE_WAY_TO_DESTINATION
  kConflict,  // delivered here and not there, or the other way round: both stay
};
DeliveryChoice ChooseDelivery(const DeliverySides& sides);

}  // namespace comanda::cloud
