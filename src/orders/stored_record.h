#pragma once

// Reads the stored record of an order (orders/record.h), or renders it from the order's rows if it
// is not stored or damaged.

#include <functional>
#include <string>
#include <string_view>

#include "db/session.h"
#include "orders/orders.h"
#include "orders/store.h"

namespace comanda::orders {

// Calls use(json) with the record of an existing order. `location` must have been read in the same
// transaction. The view is valid during the call. True if the record was rendered because the
// stored one is damaged. Fault kDamaged if the order's rows are damaged, too.
bool UseRecord(db::Session& session, db::CompanyId company, const std::string& id,
               const RecordLocation& location,
               const std::function<void(std::string_view json)>& use);
// The same record as a copy.
Record ReadRecord(db::Session& session, db::CompanyId company, std::string_view id,
                  const RecordLocation& location);

}  // namespace comanda::orders
