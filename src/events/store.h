#pragma once

// All SQL of the room: the event log and the change counters.

#include <optional>
#include <string>
#include <vector>

#include "db/change_counters.h"
#include "db/session.h"
#include "events/log.h"

namespace comanda::events::store {

// The counters of a company after a change.
struct Counted {
  int64_t seq = 0;
  db::ChangeCounters::Values values;
};

// Adds to the number of events and to one counter.
Counted Raise(db::Tx& tx, db::CompanyId company, int64_t events, Counter counter);
std::optional<Counted> Counters(db::Session& session, db::CompanyId company);
std::vector<std::pair<db::CompanyId, Counted>> AllCounters(db::Session& session);

std::string CompanyUuid(db::Session& session, db::CompanyId company);

void Insert(db::Tx& tx, db::CompanyId company, const StoredEvent& event);
// A new epoch, whose events and order numbers count from 1 again.
void CountAnew(db::Tx& tx, db::CompanyId company);
// A new epoch of every company, whose events and order numbers go on.
void RaiseEpochs(db::Tx& tx, int64_t by);
// The number of the oldest event that is kept.
std::optional<int64_t> OldestSeq(db::Session& session, db::CompanyId company);
struct Time {
  int64_t seq;
  UtcMs at;
};
// Of at most `limit` events from that number on, in order.
std::vector<Time> Times(db::Session& session, db::CompanyId company, int64_t first, int64_t limit);
std::optional<UtcMs> TimeOf(db::Session& session, db::CompanyId company, int64_t seq);
// Deletes the events up to that number; how many.
int64_t DeleteUpTo(db::Tx& tx, db::CompanyId company, int64_t seq);
std::vector<db::CompanyId> Companies(db::Session& session);
std::vector<StoredEvent> After(db::Session& session, db::CompanyId company, int64_t seq, int limit);

}  // namespace comanda::events::store
