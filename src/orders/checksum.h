#pragma once

// The checksum of an order: over every value that its rows hold, those that its record does not
// show included (orders, order_status, combo, combo_modifier, payment, discount). It is computed
// and written with each change, in its transaction, and compared whenever an order is read from its
// rows: for a change, for rendering its record, by checks (check.h).

#include <cstdint>

#include "orders/order.h"

namespace comanda::orders {

int64_t ChecksumOf(const Order& order);

}  // namespace comanda::orders
