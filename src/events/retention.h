#pragma once

// How long the event log is kept: 7 days (contract section 6), and never less because of a clock
// that jumped. And how long the records of orders are, which are bodies of events (log.h).

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "db/database.h"
#include "events/feed.h"

namespace comanda::events {

// What the room of orders says of its events.
struct RecordKeeper {
  // Whether the event's body is the stored record of the order.
  bool (*holds_record)(db::Session&, db::CompanyId, std::string_view order_id,
                       int64_t seq) = nullptr;
  // Lets go of the record of an order that was closed before that time; false where the order is
  // not.
  bool (*release_record)(db::Tx&, db::CompanyId, std::string_view order_id,
                         UtcMs closed_before) = nullptr;
};

// Moves the start of the log past what is older, a bounded number of events at a time, and deletes
// those events but the ones that hold a record; app/ calls it now and then. Purges nothing after a
// forward jump of the clock until it has stood for a day: an event of about a day ago is the
// evidence, and that day is added to the time that events are kept (contract section 1,
// Timestamps). Answers kept under an Idempotency-Key that point at the events are forgotten with
// them. Tells the feed's readers in the same transaction and waits for none of them.
//
// Drops the records of orders closed for 90 days, a bounded number at a time. Nothing is lost by
// that: the record is rendered again when it is read.
void Purge(db::Database& database, const Clock& clock, const Feed& feed,
           const RecordKeeper& records);

// Whether an event was written from that time on, before the other one: evidence of what time it
// was.
bool WrittenBetween(db::Session& session, db::CompanyId company, UtcMs from, UtcMs before);

}  // namespace comanda::events
