#pragma once

// How long the log is kept: 7 days (contract section 6), and never less because of a clock that
// jumped.

#include "base/clock.h"
#include "db/database.h"

namespace comanda::events {

// Deletes what is older, a bounded number of events at a time; app/ calls it now and then. Deletes
// nothing after a forward jump of the clock until it has stood for a day: an event of about a day
// ago is the evidence, and that day is added to the time that events are kept (contract section 1,
// Timestamps).
void Purge(db::Database& database, const Clock& clock);

}  // namespace comanda::events
