#pragma once

// A step: one request that changes one order, or one product of the menu, in the cloud (contract
// section 15.1). It is made of what differs (cloud/orders/next.h), and the journal keeps it from
// before it is sent until the cloud has accepted it.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"

namespace comanda::cloud {

// The database stores the names.
enum class StepKind : uint8_t {
  kPlace,           // POST /v1/orders
  kFields,          // PATCH /v1/orders/{id}
  kCombos,          // POST /v1/orders/{id}/combos
  kDiscount,        // POST /v1/orders/{id}/discounts
  kPayment,         // POST /v1/orders/{id}/payments
  kCancelCombo,     // DELETE /v1/orders/{id}/combos/{row}
  kRemoveDiscount,  // DELETE /v1/orders/{id}/discounts/{row}
  kCancelPayment,   // DELETE /v1/orders/{id}/payments/{row}
  kStatus,          // PATCH /v1/orders/{id}/status
  kRider,           // PUT /v1/orders/{id}/rider
  kNoRider,         // DELETE /v1/orders/{id}/rider
  kDelivery,        // PATCH /v1/orders/{id}/delivery-status
  kCancel,          // POST /v1/orders/{id}/cancel
  kMenu,            // PUT /v1/menu/products, of no order (cloud/menu/menu_push.h)
  kMenuClear,       // PATCH /v1/menu/products/{id}, of no order
  kRead,            // GET /v1/orders/{id}, never in the journal: of a restored order, before others
};
inline constexpr std::array<std::string_view, 16> kStepKindNames = {
    "place",           "fields",         "combos",     "discount", "payment",  "cancel_combo",
    "remove_discount", "cancel_payment", "status",     "rider",    "no_rider", "delivery",
    "cancel",          "menu",           "menu_clear", "read"};
constexpr std::string_view Name(StepKind kind) { return kStepKindNames[static_cast<size_t>(kind)]; }

constexpr bool AddsRows(StepKind kind) {
  return kind == StepKind::kCombos || kind == StepKind::kDiscount || kind == StepKind::kPayment;
}
constexpr bool EndsARow(StepKind kind) {
  return kind == StepKind::kCancelCombo || kind == StepKind::kRemoveDiscount ||
         kind == StepKind::kCancelPayment;
}

// Key and body never change once the step is in the journal: a repetition has the same effect as
// the first attempt.
struct Step {
  int64_t position = 0;  // of the order; increases, and is not used again
  StepKind kind = StepKind::kPlace;
  std::string key;   // Idempotency-Key
  std::string body;  // JSON; empty for a DELETE
  // Ids of this box: the rows that the step adds, or the one that it cancels or removes. Its path
  // in the cloud is known once that row has been accepted.
  std::vector<std::string> row_ids;
  UtcMs occurred_at = 0;  // Comanda-Occurred-At
  // Made by an older program, which planned ahead: the mirror has what it does already.
  bool is_in_mirror = false;
};

}  // namespace comanda::cloud
