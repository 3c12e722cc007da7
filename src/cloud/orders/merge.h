#pragma once

// Decides between the two sides of an order, for the parts that both may change (contract section
// 15.5): a three-way merge, of the local order and the record of the cloud, over what the cloud had
// before (cloud/orders/mirror.h). While a request waits for its answer, the record may show what it
// does: that is no change of the cloud. Pure.

#include <cstdint>
#include <optional>
#include <string>

#include "base/time/clock.h"
#include "cloud/orders/mirror.h"
#include "orders/order.h"

namespace comanda::cloud {

// As LastShown::delivery_status (cloud/orders/mirror.h).
std::string NameOf(std::optional<orders::DeliveryStatus> status);

// Riders are the bodies that assign them (cloud/orders/bodies.h), in the cloud's terms; empty: no
// rider.
struct RiderSides {
  std::optional<std::string> here;  // nothing: a rider that cannot be sent to the cloud
  std::string there;
  const Mirror& before;
  const Mirror& requested;  // once the request under way is accepted; without one, `before`
  UtcMs here_at = 0, there_at = 0;
};
// Whether the cloud has changed the rider.
bool HasChangedRider(const RiderSides& sides);
// Whether the rider of the cloud becomes the local one: the cloud has changed it, and this box has
// not, or earlier.
bool TakesRider(const RiderSides& sides);

struct DeliverySides {
  std::optional<orders::DeliveryStatus> here, there;
  std::optional<std::string> reason_here, reason_there;
  const Mirror& before;
  const Mirror& requested;
  bool here_by_rider = false;      // orders::Order::delivery_status_by_rider
  bool has_changed_rider = false;  // a rider of this box that the cloud does not have yet
  // The record answers the request that has removed the rider: a status that it shows all the same
  // was reported in the cloud.
  bool is_without_rider = false;
};
// Whether the cloud has changed the delivery status or its reason.
bool HasChangedDelivery(const DeliverySides& sides);
enum class DeliveryChoice : uint8_t {
  kKeep,      // that of this box stays
  kTake,      // that of the cloud is merged
  kTakeVia,   // the same, through DRIVER_ON_THE_WAY_TO_DESTINATION
  kConflict,  // delivered on one side and not on the other: both stay
};
DeliveryChoice ChooseDelivery(const DeliverySides& sides);

}  // namespace comanda::cloud
