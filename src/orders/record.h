#pragma once

// The record of an order: its public JSON, the same in lists, single answers, events and webhooks
// (contract section 7, Record). It is rendered once per change, in the transaction of the change,
// and stored once: as the body of the event of that change. Order::record_seq is the seq of that
// event. The purge (events/retention.h) deletes the records of orders that were closed long ago:
// those have no record_seq, and are rendered from their rows when they are read. Pure.

#include <cstdint>
#include <string>

#include "orders/order.h"

namespace comanda::orders {

// To be raised when a new program renders the same order differently. It is part of the order's
// entity tag; stored records of an older version are not used.
inline constexpr int64_t kRenderVersion = 4;

std::string Render(const Order& order);

// The lists of rows that a record shows (filter[include]).
struct Include {
  bool combos = true;
  bool payments = true;
  bool discounts = true;

  bool operator==(const Include&) const = default;
};

// Removes the lists that `include` does not name from a rendered record. Fault kDamaged if the text
// is no record.
std::string Cut(std::string record, Include include);

}  // namespace comanda::orders
