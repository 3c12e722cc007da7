#include "cloud/journal.h"

#include "cloud/journal_store.h"

namespace comanda::cloud {

std::optional<Waiting> NextStep(db::Session& session, db::CompanyId company, Among among, UtcMs now,
                                const OrderIds& without) {
  const std::optional<std::string> order_id =
      among == Among::kPresent
          ? store::FirstWaitingSince(session, company, now - kPresentMs, without)
          : store::FirstWaiting(session, company, without);
  return order_id ? store::FirstStep(session, company, *order_id) : std::nullopt;
}

void NoteAttempt(db::Tx& tx, db::CompanyId company, const Waiting& waiting, UtcMs now) {
  store::CountAttempt(tx, company, waiting.order_id, waiting.step.position, now);
}

void ReplaceStep(db::Tx& tx, db::CompanyId company, const Waiting& waiting, const Step& step) {
  store::UpdateStep(tx, company, waiting.order_id, waiting.step.position, step.key, step.body);
}

bool IsWaiting(db::Session& session, db::CompanyId company, const Waiting& waiting) {
  if (store::IsParked(session, company, waiting.order_id)) return false;
  const auto first = store::FirstStep(session, company, waiting.order_id);
  return first && first->step.position == waiting.step.position;
}

bool HasSteps(db::Session& session, db::CompanyId company, std::string_view order_id) {
  return !store::IsParked(session, company, order_id) &&
         store::FirstStep(session, company, order_id).has_value();
}

void RemoveStep(db::Tx& tx, db::CompanyId company, const Waiting& waiting) {
  store::DeleteStep(tx, company, waiting.order_id, waiting.step.position);
}

void Park(db::Tx& tx, db::CompanyId company, std::string_view order_id, std::string_view why,
          std::string_view problem) {
  store::SetParked(tx, company, order_id, why, problem);
}

bool Unpark(db::Tx& tx, db::CompanyId company, std::string_view order_id) {
  return store::SetParked(tx, company, order_id, "", "");
}

Counts Count(db::Session& session, db::CompanyId company) { return store::Count(session, company); }

std::vector<Parked> ListParked(db::Session& session, db::CompanyId company, int64_t limit) {
  return store::SelectParked(session, company, limit);
}

int64_t UnparkAll(db::Tx& tx, db::CompanyId company) { return store::UnparkAll(tx, company); }

bool Discard(db::Tx& tx, db::CompanyId company, std::string_view order_id, std::string_view reason,
             const db::Stamp& stamp) {
  if (!store::IsParked(tx, company, order_id)) return false;
  store::DeleteSteps(tx, company, order_id);
  Unpark(tx, company, order_id);
  store::InsertDifference(tx, company,
                          {.order_id = std::string(order_id),
                           .kind = "discarded",
                           .box = "",
                           .cloud = "",
                           .detail = std::string(reason)},
                          stamp.now);
  return true;
}

std::vector<Difference> ListDifferences(db::Session& session, db::CompanyId company,
                                        int64_t limit) {
  return store::SelectDifferences(session, company, limit);
}

}  // namespace comanda::cloud
