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
// not what was written; in a transaction, which writes the next event, they are made again
// (events/log.h).
int64_t LastSeq(db::Session& session, db::CompanyId company);
int64_t LastSeq(db::Tx& tx, db::CompanyId company);

// The next order number of that business day (YYYY-MM-DD); nothing where the last order was of
// another day, or its number is not what was written: StartOrderNumbers() then sets the number.
// Fault kDamaged where the company has no counters.
std::optional<int64_t> NextOrderNumber(db::Tx& tx, db::CompanyId company,
                                       std::string_view business_day);
void StartOrderNumbers(db::Tx& tx, db::CompanyId company, std::string_view business_day,
                       int64_t first);

}  // namespace comanda::events
