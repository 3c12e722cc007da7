#pragma once

// The record of an order: its public JSON, the same in list, detail, every answer and webhook
// (contract section 7, Record). It is rendered once per change, in the change's transaction, and
// stored once: as the body of the event that announces the change. The order's row names that event
// (record_seq); an order whose record was dropped because it was closed long ago has none, and is
// rendered from its rows when it is read.

#include <cstdint>
#include <string>

#include "orders/order.h"

namespace comanda::orders {

// Raised when the same order is rendered differently than before; part of the tag. Stored records
// of an older one are not used.
inline constexpr int64_t kRenderVersion = 1;

std::string Render(const Order& order);

// Which lists a record shows (filter[include]).
struct Include {
  bool combos = true;
  bool payments = true;
  bool discounts = true;

  bool operator==(const Include&) const = default;
};

// The rendered record without the lists that are left out. Fault kDamaged where it is no record.
std::string Cut(std::string record, Include include);

}  // namespace comanda::orders
