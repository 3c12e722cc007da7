#pragma once

// The counters of a company, one row each: the number of its last event, its change counters
// (events/log.h) and the number of its last order. They live together because a new epoch starts
// them all again.

#include <cstdint>
#include <optional>
#include <string_view>

#include "db/session.h"

namespace comanda::events {

// Those of a new company; nothing where it has them.
void BeginCounters(db::Tx& tx, db::CompanyId company);

// The number of the company's last event, 0 before the first. Fault kDamaged where the counters are
// not what was written.
int64_t LastSeq(db::Session& session, db::CompanyId company);

}  // namespace comanda::events
