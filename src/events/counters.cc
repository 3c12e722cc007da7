#include "events/counters.h"

#include "base/problem.h"
#include "events/store.h"

namespace comanda::events {

void BeginCounters(db::Tx& tx, db::CompanyId company) { store::CountersOrNew(tx, company); }

int64_t LastSeq(db::Session& session, db::CompanyId company) {
  return store::LastSeq(session, company);
}

// In two steps: RETURNING would cost more than both.
std::optional<int64_t> NextOrderNumber(db::Tx& tx, db::CompanyId company,
                                       std::string_view business_day) {
  if (!store::CountOrder(tx, company, business_day)) return std::nullopt;
  const std::optional<int64_t> number = store::OrderNumber(tx, company);
  if (!number) {
    throw Fault(Fault::Kind::kDamaged,
                "company " + std::to_string(company.value) + " has no counters");
  }
  return number;
}

void StartOrderNumbers(db::Tx& tx, db::CompanyId company, std::string_view business_day,
                       int64_t first) {
  store::SetOrderNumber(tx, company, business_day, first);
}

}  // namespace comanda::events
