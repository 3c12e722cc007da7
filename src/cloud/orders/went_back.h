#pragma once

// A cloud that went back to an earlier time, as one that was restored from a backup: what was sent
// since is missing in it, whole orders, and rows and states of others. It says so by ending the
// cursor of its events (410), which also happens where events are older than its log. Until all
// orders that were changed in the last 45 days are compared, the link says that it may have gone
// back (GoneBackSince, cloud/readings.h).
//
// - A step would close an order that lacks there what was lost, and rows come no more. So the
//   events are asked for before the first step after each request that was not answered, each new
//   start and each change of the link (cloud/syncer.cc). Once the cursor has ended, an order is
//   read before anything of it is sent. A step that closes an order names the entity tag that the
//   cloud gave for it last (If-Match): a cloud that does not answer for its events, or was
//   exchanged while no request failed, refuses it (412), and the order is read.
// - An order that the list shows in an older state: its mirror goes back to that state, too, and
//   what differs then is sent as ever, under new keys or those of the till.
// - An order that the list does not show is read by its id before anything of it is sent. Where the
//   cloud has it no more, it is placed again; one that the cloud had made stays here as it is.
// - What the cloud takes no more, because somebody has closed the order there, stays here alone.
//   The order is parked, or a difference names what is lost of one that is cancelled.
//
// A cloud that has no events, and one that knows no entity tags and is exchanged while no request
// fails, can close an order before the box knows: it is told then, as said before.

#include "cloud/orders/match.h"

namespace comanda::cloud {

// The ids of the orders in the journal that were changed in the last 45 days.
std::vector<std::string> FindSent(db::Session& session, db::CompanyId company, UtcMs now);
int64_t CountSent(db::Session& session, db::CompanyId company, UtcMs now);

// Whether the record shows an order of this box in an older state than the cloud has shown or
// acknowledged before.
bool HasGoneBack(const Match& match);

// The mirror becomes what the record shows: of what the cloud has, nothing else is believed.
void GoBack(Match& match);

// The order is read before anything of it is sent. Of one that the cloud has made, a difference
// says that it may have lost it.
void ReadAgain(db::Tx& tx, db::CompanyId company, const std::string& order_id,
               const SendRules& rules, const db::Stamp& stamp);

// The cloud has lost the order, which was read because it may have gone back: it is sent from its
// creation on. False, and nothing done, for another order.
bool PlaceAgain(db::Tx& tx, db::CompanyId company, const std::string& order_id,
                const SendRules& rules, const db::Stamp& stamp);

}  // namespace comanda::cloud
