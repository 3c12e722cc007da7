#pragma once

// The life of an order and of its delivery (specification, States and transitions; contract
// sections 7 and 8). Pure.

#include <array>
#include <optional>
#include <string_view>

#include "orders/order.h"

namespace comanda::orders {

// A later status may be reached in one request; the steps between are implied.
inline constexpr std::array kLife = {Status::kPending, Status::kPreparing, Status::kReady,
                                     Status::kDelivered, Status::kFinalized};

// The place of a status in the life; CANCELLED stands behind all.
constexpr int Rank(Status status) { return static_cast<int>(status); }
static_assert(Rank(Status::kReady) > Rank(Status::kPreparing));
static_assert(Rank(Status::kCancelled) == static_cast<int>(kLife.size()));

constexpr bool IsClosed(Status status) { return Rank(status) >= Rank(Status::kFinalized); }

// Whether somebody said that the last step happened, or it follows from something else.
enum class LastStep : uint8_t { kReported, kImplied };

// Writes the steps from the order's status to a later one into its history; to the same or an
// earlier one nothing happens and the answer is false. `target` is in the life.
bool MoveTo(Order& order, Status target, UtcMs now, std::string_view by,
            LastStep last_step = LastStep::kReported);

// From any status but CANCELLED. Combos stay as they are; closed_at becomes the time of the cancel.
void MarkCancelled(Order& order, std::string_view reason, UtcMs now, std::string_view by);

// When the order reached that status, if it did.
std::optional<UtcMs> ReachedAt(const Order& order, Status status);

enum class DeliveryMove : uint8_t { kUnchanged, kMove, kIllegal };
DeliveryMove FindMove(std::optional<DeliveryStatus> current, DeliveryStatus target);

// Where an order must have come to be there: on the way at least READY (implied: nobody reported
// it), handed over DELIVERED (reported).
struct Lift {
  Status status;
  LastStep last_step;
};
std::optional<Lift> LiftOf(DeliveryStatus status);

}  // namespace comanda::orders
