#pragma once

// A cloud that went back to an earlier time, as one that was restored from a backup: what was sent
// since is missing in it, whole orders, and rows and states of others. It says so by ending the
// cursor of its events (410), which also happens where events are older than its log. Until all
// orders that were sent in the last 45 days are compared, the link says that it may have gone back
// (MayHaveGoneBack, cloud/readings.h).
//
// - An order that the list shows in an older state: its mirror goes back to that state, too, and
//   what differs then is sent as ever, under new keys or those of the till.
// - An order that the list does not show is read by its id before anything of it is sent. Where the
//   cloud has it no more, it is placed again; one that the cloud had made stays here as it is.
// - A request that was sent before the box knew may have closed an order in the older cloud, which
//   takes no rows then: they stay here alone, and a difference says so where they count.

#include "cloud/orders/match.h"

namespace comanda::cloud {

// Whether the record shows an order of this box in an older state than the cloud has shown or
// acknowledged before.
bool HasGoneBack(const Match& match);

// The mirror becomes what the record shows: of what the cloud has, nothing else is believed.
void GoBack(Match& match);

// The order is read before anything of it is sent. Of one that the cloud has made, a difference
// says that it may have lost it.
void ReadAgain(db::Tx& tx, db::CompanyId company, const std::string& order_id,
               const SendRules& rules, const db::Stamp& stamp);

// The cloud has lost the order, which waited to be read: it is sent from its creation on. False,
// and nothing done, for another order.
bool PlaceAgain(db::Tx& tx, db::CompanyId company, const std::string& order_id,
                const SendRules& rules, const db::Stamp& stamp);

}  // namespace comanda::cloud
