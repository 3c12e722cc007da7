#pragma once

// Reads the stored record of an order (orders/record.h), or renders it from the order's rows if it
// is not stored or damaged.

#include <string_view>

#include "db/session.h"
#include "orders/orders.h"
#include "orders/store.h"

namespace comanda::orders {

// The record of an existing order. `location` must have been read in the same transaction. Fault
// kDamaged if both the stored record and the order's rows are damaged.
Record ReadRecord(db::Session& session, db::CompanyId company, std::string_view id,
                  const RecordLocation& location);

}  // namespace comanda::orders
