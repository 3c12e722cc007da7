#include "cloud/orders/merge.h"

#include "orders/lifecycle.h"

namespace comanda::cloud {
namespace {

using orders::DeliveryMove;
using orders::DeliveryStatus;

// Whether this box has another one than the cloud had: it was changed locally.
bool IsChangedHere(const DeliverySides& sides) {
  return sides.here != sides.before.delivery_status || sides.has_changed_rider;
}

// A status of the cloud that is new to this box, and another than the one here.
DeliveryChoice ChooseBetween(const DeliverySides& sides) {
  if (!sides.there) {  // the rider was removed in the cloud
    const bool is_undone = sides.here == DeliveryStatus::kRiderAssigned && sides.here_by_rider &&
                           !IsChangedHere(sides);
    return is_undone ? DeliveryChoice::kTake : DeliveryChoice::kKeep;
  }
  switch (orders::FindMove(sides.here, *sides.there)) {
    case DeliveryMove::kUnchanged:
      return DeliveryChoice::kKeep;
    case DeliveryMove::kMove: {
      // Back on the way, or the state before a NOT_DELIVERED that the cloud has not got yet.
      const bool is_older = sides.here == DeliveryStatus::kNotDelivered && IsChangedHere(sides);
      return is_older ? DeliveryChoice::kKeep : DeliveryChoice::kTake;
    }
    case DeliveryMove::kIllegal:
      break;
  }
  if (sides.there == DeliveryStatus::kNotDelivered) {
    // What is sent next brings the cloud from there to DELIVERED.
    const bool is_delivered = sides.here == DeliveryStatus::kDelivered;
    return is_delivered ? DeliveryChoice::kKeep : DeliveryChoice::kTakeVia;
  }
  const bool is_delivered = sides.there == DeliveryStatus::kDelivered;
  return is_delivered ? DeliveryChoice::kConflict : DeliveryChoice::kKeep;
}

}  // namespace

std::string NameOf(std::optional<DeliveryStatus> status) {
  return status ? std::string(Name(*status)) : "";
}

bool HasChangedRider(const RiderSides& sides) {
  const std::string& known = sides.before.shown.rider.value_or(sides.before.rider);
  return sides.there != known && sides.there != sides.before.rider &&
         sides.there != sides.requested.rider;
}

bool TakesRider(const RiderSides& sides) {
  if (!HasChangedRider(sides) || sides.there == sides.here) return false;
  return sides.here == sides.before.rider || sides.there_at > sides.here_at;
}

bool HasChangedDelivery(const DeliverySides& sides) {
  const std::string there = NameOf(sides.there);
  const Mirror& before = sides.before;
  const bool is_another =
      there != before.shown.delivery_status.value_or(NameOf(before.delivery_status)) &&
      sides.there != before.delivery_status && sides.there != sides.requested.delivery_status;
  const bool has_another_reason = sides.there == DeliveryStatus::kNotDelivered &&
                                  sides.reason_there != before.shown.delivery_status_reason &&
                                  sides.reason_there != sides.requested.delivery_status_reason;
  const bool is_kept = sides.is_without_rider && sides.there && !sides.requested.delivery_status;
  return is_another || has_another_reason || is_kept;
}

DeliveryChoice ChooseDelivery(const DeliverySides& sides) {
  if (!HasChangedDelivery(sides)) return DeliveryChoice::kKeep;
  if (sides.there != sides.here) return ChooseBetween(sides);
  const bool has_new_reason = sides.there == DeliveryStatus::kNotDelivered && sides.reason_there &&
                              sides.reason_there != sides.reason_here && !IsChangedHere(sides);
  return has_new_reason ? DeliveryChoice::kTake : DeliveryChoice::kKeep;
}

}  // namespace comanda::cloud
