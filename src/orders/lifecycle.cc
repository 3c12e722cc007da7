#include "orders/lifecycle.h"

#include "base/check.h"

namespace comanda::orders {
namespace {

constexpr bool IsUnderWay(DeliveryStatus status) {
  return status == DeliveryStatus::kArrivedAtStore || status == DeliveryStatus::kOnTheWay ||
         status == DeliveryStatus::kArrivedAtDestination;
}

}  // namespace

bool MoveTo(Order& order, Status target, UtcMs now, std::string_view by, LastStep last_step) {
  CHECK(target != Status::kCancelled, "an order is cancelled by MarkCancelled");
  if (Rank(target) <= Rank(order.status)) return false;
  for (int rank = Rank(order.status) + 1; rank <= Rank(target); ++rank) {
    const bool implied = rank < Rank(target) || last_step == LastStep::kImplied;
    order.status_history.push_back({static_cast<Status>(rank), now, std::string(by), implied});
  }
  order.status = target;
  order.unknown_status.reset();
  if (IsClosed(target)) order.closed_at = now;
  return true;
}

void MarkCancelled(Order& order, std::string_view reason, UtcMs now, std::string_view by) {
  CHECK(order.status != Status::kCancelled, "a cancelled order stays as it is");
  order.status_history.push_back({Status::kCancelled, now, std::string(by), false});
  order.status = Status::kCancelled;
  order.unknown_status.reset();
  order.cancel_reason = std::string(reason);
  order.canceled_at = now;
  order.closed_at = now;
}

std::optional<UtcMs> ReachedAt(const Order& order, Status status) {
  for (const StatusChange& change : order.status_history) {
    if (change.status == status) return change.at;
  }
  return std::nullopt;
}

DeliveryMove FindMove(std::optional<DeliveryStatus> current, DeliveryStatus target) {
  using enum DeliveryStatus;
  if (current == target) return DeliveryMove::kUnchanged;
  if (current == kNotDelivered) {
    return target == kOnTheWay ? DeliveryMove::kMove : DeliveryMove::kIllegal;
  }
  if (target == kNotDelivered) {
    return current && IsUnderWay(*current) ? DeliveryMove::kMove : DeliveryMove::kIllegal;
  }
  return !current || target > *current ? DeliveryMove::kMove : DeliveryMove::kUnchanged;
}

std::optional<Lift> LiftOf(DeliveryStatus status) {
  switch (status) {
    case DeliveryStatus::kOnTheWay:
    case DeliveryStatus::kArrivedAtDestination:
      return Lift{Status::kReady, LastStep::kImplied};
    case DeliveryStatus::kDelivered:
      return Lift{Status::kDelivered, LastStep::kReported};
    case DeliveryStatus::kRiderAssigned:
    case DeliveryStatus::kArrivedAtStore:
    case DeliveryStatus::kNotDelivered:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace comanda::orders
