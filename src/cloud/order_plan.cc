#include "cloud/order_plan.h"

#include <utility>

#include "aliases/aliases.h"
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

void Store(db::Tx& tx, db::CompanyId company, const OrderPlan& plan, const db::Stamp& stamp) {
  for (const Step& step : plan.steps) store::InsertStep(tx, company, plan.row.order_id, step);
  for (const LeftOut& left_out : plan.left_out) {
    store::InsertDifference(tx, company,
                            {.order_id = plan.row.order_id,
                             .kind = "link",
                             .box = left_out.box_id,
                             .cloud = "",
                             .detail = left_out.field},
                            stamp.now);
  }
  store::PutOrder(tx, company, plan.row);
}

}  // namespace

std::optional<OrderPlan> MakeOrderPlan(db::Session& session, db::CompanyId company,
                                       std::string_view order_id, const PlanRules& rules) {
  const std::optional<orders::Order> order = orders::Load(session, company, order_id);
  if (!order) return std::nullopt;
  const bool is_ours = order->origin == orders::Origin::kBox;
  if (is_ours && !IsSent(*order, rules)) return std::nullopt;
  store::OrderRow row =
      store::FindOrder(session, company, order_id).value_or(store::OrderRow{.order_id = order->id});
  if (row.planned_version == order->version) return std::nullopt;
  // The cloud has its own orders before this box hears of them.
  if (!is_ours) row.image.is_placed = true;

  Plan plan = PlanOf(session, *order, row.image, rules);
  OrderPlan made{.seen_planned_version = row.planned_version, .seen_waiting = row.waiting};
  row.planned_version = order->version;
  row.image = std::move(plan.image);
  row.waiting += static_cast<int64_t>(plan.steps.size());
  row.is_open = !orders::IsClosed(order->status);
  row.touched_at = order->updated_at;
  made.row = std::move(row);
  made.steps = std::move(plan.steps);
  made.left_out = std::move(plan.left_out);
  return made;
}

void StoreOrderPlan(db::Tx& tx, db::CompanyId company, const OrderPlan& plan,
                    const PlanRules& rules, const db::Stamp& stamp) {
  const std::string& id = plan.row.order_id;
  const bool is_as_seen =
      orders::VersionOf(tx, company, id) == plan.row.planned_version &&
      store::IsPlannedUpTo(tx, company, id, plan.seen_planned_version, plan.seen_waiting);
  if (is_as_seen) {
    Store(tx, company, plan, stamp);
  } else {
    PlanOrder(tx, company, id, rules, stamp);
  }
}

size_t PlanOrder(db::Tx& tx, db::CompanyId company, std::string_view order_id,
                 const PlanRules& rules, const db::Stamp& stamp) {
  const std::optional<OrderPlan> plan = MakeOrderPlan(tx, company, order_id, rules);
  if (!plan) return 0;
  Store(tx, company, *plan, stamp);
  return plan->steps.size();
}

}  // namespace comanda::cloud
