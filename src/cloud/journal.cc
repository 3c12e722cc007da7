#include "cloud/journal.h"

#include <utility>

#include "aliases/aliases.h"
#include "cloud/journal_store.h"
#include "cloud/planner.h"
#include "orders/lifecycle.h"
#include "orders/orders.h"

namespace comanda::cloud {
namespace {

Plan PlanOf(db::Session& session, const orders::Order& order, const Image& image,
            const PlanRules& rules) {
  const std::optional<std::string> first =
      image.is_placed ? std::nullopt : orders::FirstRecord(session, order);
  const auto cloud_id = [&](aliases::Kind kind, std::string_view box_id) {
    const auto alias = aliases::FindByBoxId(session, order.company, kind, box_id);
    if (!alias && kind == aliases::Kind::kTable && !rules.knows_tables) {
      return std::optional(std::string(box_id));
    }
    return alias ? std::optional(alias->cloud_id) : std::nullopt;
  };
  return MakePlan({.order = order,
                   .first_record = first ? &*first : nullptr,
                   .image = image,
                   .cloud_id = cloud_id,
                   .rider_provider = rules.rider_provider});
}

// Orders of the self-test, which it marks by their references (selftest/probe.cc).
constexpr std::string_view kSelfTest = "selftest-";

bool IsSent(const orders::Order& order, const PlanRules& rules) {
  if (order.source != orders::kApiSource) return false;
  if (order.reference && order.reference->starts_with(kSelfTest)) return false;
  return !rules.since || order.created_at >= *rules.since;
}

}  // namespace

size_t PlanOrder(db::Tx& tx, db::CompanyId company, std::string_view order_id,
                 const PlanRules& rules, const db::Stamp& stamp) {
  const std::optional<orders::Order> order = orders::Load(tx, company, order_id);
  if (!order) return 0;
  const bool is_ours = order->origin == orders::Origin::kBox;
  if (is_ours && !IsSent(*order, rules)) return 0;
  store::OrderRow row =
      store::FindOrder(tx, company, order_id).value_or(store::OrderRow{.order_id = order->id});
  if (row.planned_version == order->version) return 0;
  // The cloud has its own orders before this box hears of them.
  if (!is_ours) row.image.is_placed = true;

  Plan plan = PlanOf(tx, *order, row.image, rules);
  for (const Step& step : plan.steps) store::InsertStep(tx, company, order_id, step);
  for (const LeftOut& left_out : plan.left_out) {
    store::InsertDifference(tx, company,
                            {.order_id = order->id,
                             .kind = "link",
                             .box = left_out.box_id,
                             .cloud = "",
                             .detail = left_out.field},
                            stamp.now);
  }
  row.planned_version = order->version;
  row.image = std::move(plan.image);
  row.waiting += static_cast<int64_t>(plan.steps.size());
  row.is_open = !orders::IsClosed(order->status);
  row.touched_at = order->updated_at;
  store::PutOrder(tx, company, row);
  return plan.steps.size();
}

std::optional<Waiting> NextStep(db::Session& session, db::CompanyId company, Among among,
                                UtcMs now) {
  const std::optional<std::string> order_id =
      among == Among::kPresent ? store::FirstWaitingSince(session, company, now - kPresentMs)
                               : store::FirstWaiting(session, company);
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
