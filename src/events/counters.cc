#include "events/counters.h"

#include "events/store.h"

namespace comanda::events {

void BeginCounters(db::Tx& tx, db::CompanyId company) { store::CountersOrNew(tx, company); }

int64_t LastSeq(db::Session& session, db::CompanyId company) {
  const std::optional<store::Counted> counted = store::Counters(session, company);
  return counted ? counted->seq : 0;
}

int64_t LastSeq(db::Tx& tx, db::CompanyId company) { return store::CountersOrNew(tx, company).seq; }

std::optional<int64_t> NextOrderNumber(db::Tx& tx, db::CompanyId company,
                                       std::string_view business_day) {
  const std::optional<int64_t> last = store::LastOrderNumber(tx, company, business_day);
  if (!last) return std::nullopt;
  store::SetOrderNumber(tx, company, business_day, *last + 1);
  return *last + 1;
}

void StartOrderNumbers(db::Tx& tx, db::CompanyId company, std::string_view business_day,
                       int64_t first) {
  store::SetOrderNumber(tx, company, business_day, first);
}

}  // namespace comanda::events
