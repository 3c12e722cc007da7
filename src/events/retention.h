#pragma once

// Deletes what the event log need not keep: events older than 7 days of counted time
// (events/marks.h; contract section 6), and the stored records, which are bodies of events
// (events/log.h), of orders that were closed 90 days ago.

#include <cstdint>
#include <string_view>

#include "base/time/clock.h"
#include "db/database.h"
#include "events/feed.h"
#include "events/marks.h"

namespace comanda::events {

// What the purge asks the room of orders, which this room does not include.
struct RecordKeeper {
  // True if the event's body is the stored record of the order.
  bool (*holds_record)(db::Session&, db::CompanyId, std::string_view order_id,
                       int64_t seq) = nullptr;
  // If the order was closed before that time: marks its record as not stored, and returns true. The
  // caller then deletes the row.
  bool (*release_record)(db::Tx&, db::CompanyId, std::string_view order_id,
                         UtcMs closed_before) = nullptr;
};

// Runs at most 5 steps of the purge for each company; app/ calls it about once a minute. A step:
//   - moves the log's start past at most 100 events that are older than 7 days, deletes those of
//     them that hold no record, and deletes the idempotency answers that refer to them. It calls
//     the feed's readers in the same transaction and waits for none of them.
//   - deletes the records of at most 100 orders that were closed 90 days ago. They are rendered
//     from the order's rows from then on.
// Each part is a transaction of its own. Blocks for the writer. Throws what the database throws.
void Purge(db::Database& database, const Clock& clock, const Marks& marks, const Feed& feed,
           const RecordKeeper& records);

}  // namespace comanda::events
