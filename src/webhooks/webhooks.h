#pragma once

// Subscriptions: created, changed, removed. The interface of this room to others. The deliveries
// are made by the deliverer (deliverer.h).

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "db/session.h"
#include "webhooks/delivery.h"
#include "webhooks/graces.h"
#include "webhooks/json.h"
#include "webhooks/subscription.h"

namespace comanda::webhooks {

// The commands run inside the caller's transaction. Those with an `id` throw Refusal(kNotFound) for
// an unknown one.
//
// A new subscription begins at the end of the log. Throws Refusal(kValidationFailed) for the 21st
// of a company. The draft must have a URL.
Subscription Create(db::Tx& tx, db::CompanyId company, const Draft& draft, const db::Stamp& stamp);
// A changed URL, and is_active: true, clear what is known of the receiver's failures: it is no
// longer suspended, and all that waits is due. The grace of a rotated secret begins with the
// commit.
Subscription Change(db::Tx& tx, Graces& graces, db::CompanyId company, std::string_view id,
                    const Draft& draft, const db::Stamp& stamp);
// Deletes the old secret, if its grace is the one with that end.
void EndGrace(db::Tx& tx, db::CompanyId company, std::string_view id, UtcMs until);
// Removes its deliveries, too. The way to get rid of a damaged one.
struct Removed {
  Subscription subscription;
  Behind behind;
};
Removed Remove(db::Tx& tx, db::CompanyId company, std::string_view id);
// Throws Fault kDamaged where the row is not what was written.
Subscription Get(db::Session& session, db::CompanyId company, std::string_view id);

// What is not delivered yet, as far as it is stored: of subscriptions as their rows are, in the
// same order. The log is read once for all.
std::vector<Behind> BehindOf(db::Session& session, db::CompanyId company,
                             std::span<const Subscription> subscriptions);
Behind BehindOf(db::Session& session, db::CompanyId company, const Subscription& subscription);

// The outcome of a test: stored in the log of deliveries. An acknowledged one ends the waits of a
// receiver that failed; it stays suspended.
void NoteTest(db::Tx& tx, db::CompanyId company, std::string_view id, const Delivery& test,
              const db::Stamp& stamp);
// Makes a message due again, whatever became of it. Throws Refusal(kNotFound) where there is no
// such delivery, or its event is no longer kept.
Delivery Redeliver(db::Tx& tx, db::CompanyId company, std::string_view id,
                   std::string_view delivery_id, const db::Stamp& stamp);
// The same of all that are dead and whose event is kept, tests excepted; returns how many.
int64_t RedeliverDead(db::Tx& tx, db::CompanyId company, std::string_view id,
                      const db::Stamp& stamp);

// For the purge of the log (events/feed.h): a subscription that has not handled all events up to
// `last` goes on behind them, and counts the messages that it has missed.
void Purged(db::Tx& tx, db::CompanyId company, int64_t last);
// For the reset of the sandbox.
void RemoveAll(db::Tx& tx, db::CompanyId company);
// What is damaged in the tables of this room, for `comanda verify` and the background check.
void Check(db::Session& session, std::vector<std::string>& damage);
// For a database that was restored from a backup: raises every sequence by as much as the epoch, so
// that receivers see the restoration as a gap.
void NoteRestored(db::Tx& tx, int64_t by);

}  // namespace comanda::webhooks
