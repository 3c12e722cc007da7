#pragma once

// Reads the stored record of an order (orders/record.h), or renders it from the order's rows if it
// is not stored or damaged.

#include <string>
#include <string_view>

#include "db/session.h"
#include "orders/orders.h"
#include "orders/store.h"

namespace comanda::orders {

// Whether a record is stored there, of the form that this program renders.
bool IsStored(const RecordLocation& location);

// The record of an order that exists, rendered from its rows. Fault kDamaged if they are damaged.
std::string RenderFromRows(db::Session& session, db::CompanyId company, const std::string& id);

// The record of an order that exists. `location` must have been read in the same transaction. Fault
// kDamaged if both the stored record and the order's rows are damaged.
Record ReadRecord(db::Session& session, db::CompanyId company, std::string_view id,
                  const RecordLocation& location);

}  // namespace comanda::orders
