#pragma once

// Who may change what of an order that both the box and the cloud have (contract section 15.5):
// THE table. An order belongs to the side that made it. Both sides move its status, its rider and
// its delivery status, and both may cancel an order of the box. What a side changes without being
// allowed to is not taken by the other one.
//
// What API keys and the cloud may do here follows the same rules (orders/permission.h). Pure.

#include <array>
#include <cstdint>

#include "orders/order.h"

namespace comanda::cloud {

enum class Side : uint8_t { kBox, kCloud };

// The parts of an order.
enum class Part : uint8_t {
  kReferences,  // client, table, address
  kFields,      // texts, scheduled date, delivery price, packaging price
  kCombos,
  kPayments,
  kDiscounts,
  kStatus,    // only forward: the later one of both sides
  kRider,     // the later change
  kDelivery,  // delivery status and reason, in the order of orders::FindMove()
  kCancel,    // the last status, but not over active payments
};

// Which sides may change a part.
enum class Changers : uint8_t { kMaker, kBoth, kMakerAndCloud };

struct Authority {
  Part part;
  Changers changers;
};
inline constexpr std::array kAuthorities = {
    Authority{Part::kReferences, Changers::kMaker},
    Authority{Part::kFields, Changers::kMaker},
    Authority{Part::kCombos, Changers::kMaker},
    Authority{Part::kPayments, Changers::kMaker},
    Authority{Part::kDiscounts, Changers::kMaker},
    Authority{Part::kStatus, Changers::kBoth},
    Authority{Part::kRider, Changers::kBoth},
    Authority{Part::kDelivery, Changers::kBoth},
    Authority{Part::kCancel, Changers::kMakerAndCloud},
};

// Whether that side may change that part of an order that `maker` made.
constexpr bool MayChange(Side side, orders::Origin maker, Part part) {
  const Authority& row = kAuthorities[static_cast<size_t>(part)];
  const bool is_maker = (side == Side::kCloud) == (maker == orders::Origin::kCloud);
  switch (row.changers) {
    case Changers::kMaker:
      return is_maker;
    case Changers::kBoth:
      return true;
    case Changers::kMakerAndCloud:
      return is_maker || side == Side::kCloud;
  }
  return false;
}

consteval bool AreInTheOrderOfParts() {
  for (size_t i = 0; i < kAuthorities.size(); ++i) {
    if (static_cast<size_t>(kAuthorities[i].part) != i) return false;
  }
  return true;
}
static_assert(AreInTheOrderOfParts());

}  // namespace comanda::cloud
