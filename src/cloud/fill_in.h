#pragma once

// What the record of an order of the cloud does not show: it stays as it is here. Times that are
// not shown are those of the first record; names and kitchens of items are those of the menu here.

#include "cloud/cloud_record.h"
#include "db/session.h"
#include "orders/order.h"

namespace comanda::cloud {

// Completes `draft`, which is the order of the record; `before`: the order as it is stored here, or
// null.
void FillIn(db::Session& session, db::CompanyId company, orders::Order& draft,
            const CloudRecord& record, const orders::Order* before, UtcMs now);

}  // namespace comanda::cloud
