#pragma once

// The statuses of an order and of its delivery, and the moves between them (specification, States
// and transitions; contract sections 7 and 8). Pure.

#include <array>
#include <optional>
#include <string_view>

#include "orders/order.h"

namespace comanda::orders {

// The life: the statuses that an order goes through. One request may move it to any later status;
// the steps between are then marked as implied.
inline constexpr std::array kLife = {Status::kPending, Status::kPreparing, Status::kReady,
                                     Status::kDelivered, Status::kFinalized};

// The index of a status in the life; that of CANCELLED is after all of them.
constexpr int Rank(Status status) { return static_cast<int>(status); }
static_assert(Rank(Status::kReady) > Rank(Status::kPreparing));
static_assert(Rank(Status::kCancelled) == static_cast<int>(kLife.size()));

constexpr bool IsClosed(Status status) { return Rank(status) >= Rank(Status::kFinalized); }

// Whether the last step of a move was reported by the caller, or follows from a delivery status.
enum class LastStep : uint8_t { kReported, kImplied };

// Moves the order to a later status and appends the steps to its history. False, and no change, if
// `target` is the current status or an earlier one. `target` must be in kLife. `by`: an actor
// (orders/permission.h).
bool MoveTo(Order& order, Status target, UtcMs now, std::string_view by,
            LastStep last_step = LastStep::kReported);

// Sets the status CANCELLED, its history entry, and closed_at. Combos are not changed. The order
// must not be cancelled already.
void MarkCancelled(Order& order, std::string_view reason, UtcMs now, std::string_view by);

// The time at which the order reached that status.
std::optional<UtcMs> ReachedAt(const Order& order, Status status);

// The effect of reporting a delivery status: none, a move, or a refusal.
enum class DeliveryMove : uint8_t { kUnchanged, kMove, kIllegal };
DeliveryMove FindMove(std::optional<DeliveryStatus> current, DeliveryStatus target);

// The status that an order must have reached when its delivery has reached `status`: READY when it
// is on the way (implied, since the caller did not report it), DELIVERED when it was handed over
// (reported). An order that is behind is moved there.
struct Lift {
  Status status;
  LastStep last_step;
};
std::optional<Lift> LiftOf(DeliveryStatus status);

}  // namespace comanda::orders
