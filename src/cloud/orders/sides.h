#pragma once

// What both sides of an order show otherwise, once the cloud has accepted all that this box has
// (contract section 15.7): a difference for each member, which goes when both are equal again.
// Nothing is corrected.

#include <optional>
#include <string>

#include "cloud/orders/cloud_record.h"
#include "cloud/orders/mirror.h"
#include "company/company.h"
#include "db/session.h"
#include "orders/order.h"

namespace comanda::cloud {

// Totals, fields, the number of rows, and who the rider is, of what the record shows. What was
// given up (cloud/orders/next.h) has its difference already.
void CompareSides(db::Tx& tx, const orders::Order& here, const CloudRecord& there,
                  const Mirror& mirror, UtcMs now);

// Counts the order where its business day is another in the cloud.
void CompareBusinessDays(db::Tx& tx, const company::Company& company, UtcMs created_here,
                         UtcMs created_there, UtcMs now);

}  // namespace comanda::cloud
