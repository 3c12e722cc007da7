#pragma once

// The public JSON of an order, the same in list, detail, every answer and webhook (contract section
// 7, Record): rendered once per change, in its transaction, and kept in order_record beside the
// row.

#include <cstdint>
#include <string>
#include <string_view>

#include "orders/order.h"

namespace comanda::orders {

// Raised when the same order is rendered differently than before; part of the tag. Stored records
// of an older one are rendered anew when they are read.
inline constexpr int64_t kRenderVersion = 1;

// The parts of a record that filter[include] can leave out. The head is members without braces, the
// others are arrays. Views: of a rendering, or of a row of order_record.
struct Fragments {
  std::string_view head, combos, payments, discounts;
};

struct Rendering {
  std::string head, combos, payments, discounts;
  Fragments fragments() const { return {head, combos, payments, discounts}; }
};
Rendering Render(const Order& order);

// Which lists a record shows.
struct Include {
  bool combos = true;
  bool payments = true;
  bool discounts = true;
};
std::string Join(const Fragments& fragments, Include include = {});

}  // namespace comanda::orders
