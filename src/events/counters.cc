#include "events/counters.h"

#include "events/store.h"

namespace comanda::events {

void BeginCounters(db::Tx& tx, db::CompanyId company) { store::CountersOrNew(tx, company); }

int64_t LastSeq(db::Session& session, db::CompanyId company) {
  const std::optional<store::Counted> counted = store::Counters(session, company);
  return counted ? counted->seq : 0;
}

}  // namespace comanda::events
