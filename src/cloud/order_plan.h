#pragma once

// The plan of one order (cloud/planner.h), from the database to the journal. It is made on any
// session, where it may take its time, and stored by the writer, for which tills wait.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cloud/journal_store.h"
#include "cloud/planner.h"
#include "cloud/step.h"
#include "db/session.h"

namespace comanda::cloud {

struct PlanRules {
  // The name in the cloud of the provider whose riders are users of the company.
  std::string_view rider_provider;
  std::optional<UtcMs> since = {};  // orders created here before are not sent
  // Whether tables could be paired. The ids of a cloud that does not list its tables may be those
  // of this box: it refuses others, which are then left out.
  bool knows_tables = true;
};

// A plan that is not stored yet.
struct OrderPlan {
  // The order's row in the journal, as it will be, and what it was when the plan was made.
  store::OrderRow row;
  int64_t seen_planned_version = 0, seen_waiting = 0;
  std::vector<Step> steps;
  std::vector<LeftOut> left_out;
};

// Nothing where this version of the order has been planned, there is no such order, another channel
// or the self-test has made it, or it is too old.
std::optional<OrderPlan> MakeOrderPlan(db::Session& session, db::CompanyId company,
                                       std::string_view order_id, const PlanRules& rules);

// Stores the steps, the image, and a difference for each reference that is left out. Where the
// order or its row in the journal has changed since the plan was made, it is made again.
void StoreOrderPlan(db::Tx& tx, db::CompanyId company, const OrderPlan& plan,
                    const PlanRules& rules, const db::Stamp& stamp);

// Both, in one transaction. The number of new steps.
size_t PlanOrder(db::Tx& tx, db::CompanyId company, std::string_view order_id,
                 const PlanRules& rules, const db::Stamp& stamp);

}  // namespace comanda::cloud
