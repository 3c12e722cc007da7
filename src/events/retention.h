#pragma once

// How long the event log is kept: 7 days of counted time (contract section 6). And how long the
// records of orders are, which are bodies of events (log.h).

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "db/database.h"
#include "events/feed.h"
#include "events/marks.h"

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

// Moves the start of the log past the events that lie before a mark of 7 days ago (marks.h), a
// bounded number at a time, and deletes those events but the ones that hold a record; app/ calls it
// now and then. Answers kept under an Idempotency-Key that point at the events are forgotten with
// them. Tells the feed's readers in the same transaction and waits for none of them.
//
// Drops the records of orders closed for 90 days, a bounded number at a time. Nothing is lost by
// that: the record is rendered again when it is read.
void Purge(db::Database& database, const Clock& clock, const Marks& marks, const Feed& feed,
           const RecordKeeper& records);

}  // namespace comanda::events
