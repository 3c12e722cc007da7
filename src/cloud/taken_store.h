#pragma once

// SQL of the taker (cloud/taker.h), on the journal's tables. Functions throw Fault on a database
// error.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cloud/journal.h"
#include "cloud/seen.h"
#include "db/session.h"

namespace comanda::cloud::store {

// Of an order that is not in the journal: a Seen without members.
Seen FindSeen(db::Session& session, db::CompanyId company, std::string_view order_id);
// Nothing where the order is not in the journal.
void PutSeen(db::Tx& tx, db::CompanyId company, std::string_view order_id, const Seen& seen);

// Why nothing of the order is sent; empty: it is not parked.
std::string WhyParked(db::Session& session, db::CompanyId company, std::string_view order_id);
// The steps that wait, in their order, each with its position, kind and body.
std::vector<Step> WaitingSteps(db::Session& session, db::CompanyId company,
                               std::string_view order_id);
// The kinds of the same.
std::vector<StepKind> WaitingKinds(db::Session& session, db::CompanyId company,
                                   std::string_view order_id);
// The ids, of this box, of the rows that they add.
std::vector<std::string> WaitingRows(db::Session& session, db::CompanyId company,
                                     std::string_view order_id);
// The bodies of those that set the rider; empty: one that removes it.
std::vector<std::string> WaitingRiders(db::Session& session, db::CompanyId company,
                                       std::string_view order_id);
// Ids of orders that are open here, at most `limit`.
std::vector<std::string> OpenOrders(db::Session& session, db::CompanyId company, int64_t limit);

// Writes the difference in the place of another of that order and kind; writes nothing where it is
// there already. True if it was written.
bool PutDifference(db::Tx& tx, db::CompanyId company, const Difference& difference, UtcMs at);
void RemoveDifference(db::Tx& tx, db::CompanyId company, std::string_view order_id,
                      std::string_view kind);
// Counts one more order that has another business day in the cloud: one difference for each pair of
// days, of no order.
void CountDate(db::Tx& tx, db::CompanyId company, std::string_view day_here,
               std::string_view day_there, UtcMs at);

}  // namespace comanda::cloud::store
