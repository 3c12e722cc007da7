#include "cloud/merge.h"

#include "orders/lifecycle.h"

namespace comanda::cloud {
namespace {

using orders::DeliveryMove;
using orders::DeliveryStatus;

std::string NameOf(std::optional<DeliveryStatus> status) {
  return status ? std::string(Name(*status)) : "";
}

// A status of the cloud that is new to this box, and another than the one here.
DeliveryChoice ChooseBetween(const DeliverySides& sides) {
  if (!sides.there) {  // the rider was removed there
    const bool is_undone =
        sides.here == DeliveryStatus::kRiderAssigned && sides.here_by_rider && !sides.waits;
    return is_undone ? DeliveryChoice::kTake : DeliveryChoice::kKeep;
  }
  switch (orders::FindMove(sides.here, *sides.there)) {
    case DeliveryMove::kUnchanged:
      return DeliveryChoice::kKeep;
    case DeliveryMove::kMove: {
      // Back on the way, or the state before a NOT_DELIVERED that waits here.
      const bool is_older = sides.here == DeliveryStatus::kNotDelivered && sides.waits;
      return is_older ? DeliveryChoice::kKeep : DeliveryChoice::kTake;
    }
    case DeliveryMove::kIllegal:
      break;
  }
  if (sides.there == DeliveryStatus::kNotDelivered) {
    // The planner brings the cloud from there to DELIVERED.
    const bool is_delivered = sides.here == DeliveryStatus::kDelivered;
    return is_delivered ? DeliveryChoice::kKeep : DeliveryChoice::kTakeVia;
  }
  const bool is_delivered = sides.there == DeliveryStatus::kDelivered;
  return is_delivered ? DeliveryChoice::kConflict : DeliveryChoice::kKeep;
}

}  // namespace

bool TakesRider(const RiderSides& sides) {
  if (sides.is_own) return false;
  // What the cloud has shown last. An order of which it has shown nothing yet has no rider there
  // while the step that sets one waits.
  const std::string known = sides.seen.value_or(sides.waits ? "" : sides.image);
  if (sides.there == known) return false;
  if (sides.there == sides.image || sides.there == sides.here) return false;
  const bool has_changed_here = sides.waits || sides.here != sides.image;
  return !has_changed_here || sides.there_at > sides.here_at;
}

DeliveryChoice ChooseDelivery(const DeliverySides& sides) {
  const std::string known = sides.seen.value_or(NameOf(sides.image));
  if (sides.there == sides.here) {
    const bool has_new_reason = sides.there == DeliveryStatus::kNotDelivered &&
                                sides.reason_there && sides.reason_there != sides.seen_reason &&
                                sides.reason_there != sides.reason_here && !sides.waits;
    return has_new_reason ? DeliveryChoice::kTake : DeliveryChoice::kKeep;
  }
  if (NameOf(sides.there) == known || sides.there == sides.image) return DeliveryChoice::kKeep;
  return ChooseBetween(sides);
}

}  // namespace comanda::cloud
