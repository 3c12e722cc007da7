#include "cloud/orders/pending.h"

#include <algorithm>
#include <utility>

#include "aliases/aliases.h"
#include "base/concat.h"
#include "cloud/orders/bodies.h"
#include "events/log.h"
#include "orders/lifecycle.h"
#include "orders/orders.h"

namespace comanda::cloud {
namespace {

// Orders of the self-test, which it marks by their references (selftest/probe.cc).
constexpr std::string_view kSelfTest = "selftest-";

// An order of which something was sent goes on, however the box was linked since.
bool IsSent(const orders::Order& order, const store::OrderRow& row, const SendRules& rules) {
  if (order.origin == orders::Origin::kCloud) return true;
  if (order.source != orders::kApiSource) return false;
  if (order.reference && order.reference->starts_with(kSelfTest)) return false;
  return !rules.since || order.created_at >= *rules.since || row.mirror.last_position > 0;
}

Local LocalOf(db::Session& session, const orders::Order& order, const SendRules& rules) {
  return {.order = order,
          .first_record = [&] { return orders::FirstRecord(session, order); },
          .cloud_id =
              [&](aliases::Kind kind, std::string_view box_id) {
                const auto alias = aliases::FindByBoxId(session, order.company, kind, box_id);
                if (!alias && kind == aliases::Kind::kTable && !rules.knows_tables) {
                  return std::optional(std::string(box_id));
                }
                return alias ? std::optional(alias->cloud_id) : std::nullopt;
              },
          .rider_provider = rules.rider_provider,
          .epoch = events::ExtentOf(session, order.company).epoch};
}

store::OrderRow RowOf(db::Session& session, const orders::Order& order) {
  return store::FindOrder(session, order.company, order.id)
      .value_or(store::OrderRow{.order_id = order.id});
}

// The mirror once the requests that wait for their answers are accepted, and their number.
struct Ahead {
  Mirror mirror;
  size_t steps = 0;
};
Ahead AheadOf(db::Session& session, const store::OrderRow& row, const orders::Order& order) {
  Ahead ahead{.mirror = row.mirror};
  const auto first = store::FirstStep(session, order.company, order.id);
  if (!first) return ahead;
  Accept(ahead.mirror, first->step, order);
  ahead.steps = 1;
  return ahead;
}

Compared Compare(db::Session& session, const orders::Order& order, store::OrderRow row,
                 const SendRules& rules, Makes makes) {
  Compared compared{.before = row, .version = order.version};
  const Local local = LocalOf(session, order, rules);
  // The cloud has its own orders before this box hears of them.
  if (order.origin == orders::Origin::kCloud) row.mirror.is_placed = true;
  Ahead ahead = AheadOf(session, row, order);
  const bool is_made = (makes == Makes::kNext || !row.mirror.is_placed) &&
                       store::WhyParked(session, order.company, order.id).empty() &&
                       !IsReadFirst(session, order, row.mirror, rules);
  if (ahead.steps == 0 && is_made) {
    Next next = FindNext(row.mirror, local);
    compared.step = std::move(next.step);
    compared.left_out = std::move(next.left_out);
    if (compared.step) row.mirror.last_position = compared.step->position;
  }
  row.waiting = static_cast<int64_t>(ahead.steps + Remaining(ahead.mirror, local).size());
  if (row.mirror.is_to_read) row.waiting = std::max<int64_t>(row.waiting, 1);
  row.planned_version = order.version;
  row.is_open = !orders::IsClosed(order.status);
  row.touched_at = order.updated_at;
  compared.after = std::move(row);
  return compared;
}

void Store(db::Tx& tx, db::CompanyId company, const Compared& compared, const db::Stamp& stamp) {
  const std::string& id = compared.after.order_id;
  if (compared.step) store::InsertStep(tx, company, id, *compared.step);
  for (const LeftOut& left_out : compared.left_out) {
    store::NoteDifference(tx, company,
                          {.order_id = id,
                           .kind = DifferenceKind::kLink,
                           .box = left_out.box_id,
                           .cloud = "",
                           .detail = left_out.field},
                          stamp.now);
  }
  store::PutOrder(tx, company, compared.after);
}

// Whether a cancel in the cloud makes the request impossible. The cancel of this box has come true.
bool IsLostByACancel(const Step& step) {
  if (step.kind == StepKind::kCancel) return false;
  return step.kind != StepKind::kFields || !HasCommentAlone(step.body);
}

}  // namespace

bool IsBehind(db::Session& session, const orders::Order& order, const Mirror& mirror,
              const SendRules& rules) {
  const bool may_be = rules.restored_at && order.created_at <= *rules.restored_at &&
                      order.origin == orders::Origin::kBox;
  return may_be && mirror.epoch != events::ExtentOf(session, order.company).epoch;
}

bool IsReadFirst(db::Session& session, const orders::Order& order, const Mirror& mirror,
                 const SendRules& rules) {
  const bool is_uncompared = rules.went_back_at && mirror.compared_for != *rules.went_back_at;
  return mirror.is_placed &&
         (mirror.is_to_read || is_uncompared || IsBehind(session, order, mirror, rules));
}

std::optional<Compared> CompareOrder(db::Session& session, db::CompanyId company,
                                     std::string_view order_id, const SendRules& rules,
                                     Makes makes) {
  const std::optional<orders::Order> order = orders::Load(session, company, order_id);
  if (!order) return std::nullopt;
  store::OrderRow row = RowOf(session, *order);
  if (!IsSent(*order, row, rules)) return std::nullopt;
  if (row.planned_version == order->version) return std::nullopt;
  return Compare(session, *order, std::move(row), rules, makes);
}

void StoreCompared(db::Tx& tx, db::CompanyId company, const Compared& compared,
                   const SendRules& rules, Makes makes, const db::Stamp& stamp) {
  const std::string& id = compared.after.order_id;
  const auto now = store::FindOrder(tx, company, id);
  const bool is_as_seen = orders::VersionOf(tx, company, id) == compared.version &&
                          now.value_or(store::OrderRow{.order_id = id}) == compared.before;
  if (is_as_seen) {
    Store(tx, company, compared, stamp);
  } else if (const auto again = CompareOrder(tx, company, id, rules, makes)) {
    Store(tx, company, *again, stamp);
  }
}

store::OrderRow CompareAgain(db::Tx& tx, const orders::Order& order, store::OrderRow row,
                             const SendRules& rules, Makes makes, const db::Stamp& stamp) {
  if (IsSent(order, row, rules)) {
    Compared compared = Compare(tx, order, std::move(row), rules, makes);
    Store(tx, order.company, compared, stamp);
    return std::move(compared.after);
  }
  row.waiting = 0;
  row.planned_version = order.version;
  row.is_open = !orders::IsClosed(order.status);
  row.touched_at = order.updated_at;
  store::PutOrder(tx, order.company, row);
  return row;
}

std::optional<Waiting> RequestUnderWay(db::Session& session, db::CompanyId company,
                                       std::string_view order_id, const SendRules& rules) {
  auto waiting = store::FirstStep(session, company, order_id);
  // The mirror has what it does already: it goes first.
  if (waiting && waiting->step.is_in_mirror) return waiting;
  const auto row = store::FindOrder(session, company, order_id);
  const bool may_read = rules.restored_at || rules.went_back_at;
  if (!may_read && !(row && row->mirror.is_to_read)) return waiting;
  const auto order = orders::Load(session, company, order_id);
  if (row && order && IsReadFirst(session, *order, row->mirror, rules)) {
    return Waiting{.order_id = std::string(order_id), .step = {.kind = StepKind::kRead}};
  }
  return waiting;
}

std::optional<Waiting> NextRequest(db::Tx& tx, db::CompanyId company, std::string_view order_id,
                                   const SendRules& rules, const db::Stamp& stamp) {
  if (auto waiting = RequestUnderWay(tx, company, order_id, rules)) return waiting;
  auto row = store::FindOrder(tx, company, order_id);
  const auto order = orders::Load(tx, company, order_id);
  if (!row) return std::nullopt;
  if (!order) {
    row->waiting = 0;
    store::PutOrder(tx, company, *row);
    return std::nullopt;
  }
  CompareAgain(tx, *order, *std::move(row), rules, Makes::kNext, stamp);
  return store::FirstStep(tx, company, order_id);
}

std::vector<Step> RemainingSteps(db::Session& session, const store::OrderRow& row,
                                 const orders::Order& order, const SendRules& rules) {
  Mirror mirror = row.mirror;
  std::vector<Step> steps;
  if (auto first = store::FirstStep(session, order.company, order.id)) {
    Accept(mirror, first->step, order);
    steps.push_back(std::move(first->step));
  }
  for (Step& step : Remaining(mirror, LocalOf(session, order, rules))) {
    steps.push_back(std::move(step));
  }
  return steps;
}

bool Discard(db::Tx& tx, db::CompanyId company, std::string_view order_id, std::string_view reason,
             const SendRules& rules, const db::Stamp& stamp) {
  if (store::WhyParked(tx, company, order_id).empty()) return false;
  auto row = store::FindOrder(tx, company, order_id);
  const auto order = orders::Load(tx, company, order_id);
  if (row && order) {
    row->mirror = AheadOf(tx, *row, *order).mirror;
    Remaining(row->mirror, LocalOf(tx, *order, rules));
    row->planned_version = order->version;
    row->waiting = 0;
    store::PutOrder(tx, company, *row);
  }
  store::DeleteSteps(tx, company, order_id);
  store::Unpark(tx, company, order_id);
  store::InsertDifference(tx, company,
                          {.order_id = std::string(order_id),
                           .kind = DifferenceKind::kDiscarded,
                           .box = "",
                           .cloud = "",
                           .detail = std::string(reason)},
                          stamp.now);
  return true;
}

void DropSteps(db::Tx& tx, db::CompanyId company, const std::string& order_id,
               const std::vector<Step>& remaining, UtcMs now) {
  std::string lost;
  for (const Step& step : remaining) {
    if (IsLostByACancel(step)) lost += Concat({lost.empty() ? "" : ", ", Name(step.kind)});
  }
  const auto waiting = store::FirstStep(tx, company, order_id);
  if (waiting && (IsLostByACancel(waiting->step) || waiting->step.kind == StepKind::kCancel)) {
    store::DeleteSteps(tx, company, order_id);
  }
  if (lost.empty()) return;
  store::PutDifference(tx, company,
                       {.order_id = order_id,
                        .kind = DifferenceKind::kStatus,
                        .box = lost,
                        .cloud = std::string(Name(orders::Status::kCancelled)),
                        .detail = "not sent: the cloud has cancelled the order"},
                       now);
}

void AddUncounted(Uncounted& uncounted, db::Session& session, db::CompanyId company,
                  std::string_view order_id) {
  const auto row = store::FindOrder(session, company, order_id);
  const auto order = orders::Load(session, company, order_id);
  if (!row || !order || order->origin == orders::Origin::kCloud) return;
  const auto is_sold = [](bool is_cancelled, orders::Status status) {
    return !is_cancelled && status != orders::Status::kCancelled;
  };
  for (const orders::Combo& combo : order->combos) {
    const auto known = row->mirror.combos.find(combo.id);
    const bool is_counted = known != row->mirror.combos.end() &&
                            is_sold(known->second.is_cancelled, row->mirror.status);
    const bool is_sold_here = is_sold(combo.canceled_at.has_value(), order->status);
    if (is_counted == is_sold_here) continue;
    const int64_t quantity = is_sold_here ? combo.quantity : -combo.quantity;
    if (combo.variant_id) {
      uncounted.by_variant[*combo.variant_id] += quantity;
    } else if (combo.sku) {
      uncounted.by_sku[*combo.sku] += quantity;
    }
  }
}

}  // namespace comanda::cloud
