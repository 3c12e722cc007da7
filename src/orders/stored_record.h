#pragma once

// Reads the record of an order (record.h) from where it is stored, and from the order's rows where
// it is not stored or the stored one is damaged.

#include <string_view>

#include "db/session.h"
#include "orders/orders.h"
#include "orders/store.h"

namespace comanda::orders {

// Of an order that is there; `place` was read in the same transaction. Fault kDamaged where neither
// the stored record nor the order's rows are what was written.
Record ReadRecord(db::Session& session, db::CompanyId company, std::string_view id,
                  const RecordPlace& place);

}  // namespace comanda::orders
