#pragma once

// Takes a record of an order that this box made: status, rider and delivery status are merged, and
// a restored box gets back what it has lost (cloud/orders/restored_merge.h). In the caller's
// transaction.

#include <string_view>

#include "cloud/orders/match.h"
#include "cloud/orders/pending.h"
#include "cloud/orders/record_merge.h"
#include "db/session.h"

namespace comanda::cloud {

// May drop the request under way.
Merged MergeBoxMade(Match& match);

// A repeated request has the first answer again, which may be older than what the cloud has shown
// since. It still names the rows that the request has made.
void AcceptRepeated(const Match& match);

// An order that was parked as cancelled_but_paid and whose payments a person has cancelled since
// becomes CANCELLED; what was not sent is dropped, with a difference. False where it is no such
// order. To be called for each order that has changed.
bool FinishCancel(db::Tx& tx, db::CompanyId company, std::string_view order_id,
                  const SendRules& rules, const db::Stamp& stamp);

}  // namespace comanda::cloud
