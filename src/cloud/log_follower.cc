#include "cloud/log_follower.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "cloud/orders/box_made.h"
#include "cloud/menu/menu_push.h"
#include "events/types.h"
#include "orders/orders.h"

namespace comanda::cloud {
namespace {

constexpr int kEventsAtOnce = 200;
constexpr int64_t kScannedAtOnce = 50;
constexpr size_t kComparedAtOnce = 8;
// The subjects of events (events/types.h).
constexpr std::string_view kOrder = "order", kProduct = "product";

}  // namespace

void LogFollower::Follow() {
  ScanOlder();
  while (true) {
    const events::Page page = settings_.database.Read([&](db::Snapshot& snapshot) {
      return events::ReadPage(snapshot, linked_.company, linked_.link.planned_seq, kEventsAtOnce);
    });
    // Events that are purged were not planned, as after a week without a link's worker: every order
    // is looked at.
    if (page.extent.oldest > linked_.link.planned_seq + 1 && linked_.link.planned_seq > 0) {
      RestartScan();
    }
    if (page.position > linked_.link.planned_seq) TakePage(page);
    if (page.at_end) return;
    settings_.pass.Beat();
  }
}

// Each order is planned once, however many events it had: the plan compares the order as it stands
// with what the cloud has.
void LogFollower::TakePage(const events::Page& page) {
  std::vector<std::string> order_ids;
  for (const events::StoredEvent& event : page.events) {
    if (event.subject_type == kOrder &&
        std::ranges::find(order_ids, event.subject_id) == order_ids.end()) {
      order_ids.push_back(event.subject_id);
    }
  }
  CompareOrders(order_ids, [&](db::Tx& tx, const db::Stamp& stamp) {
    for (const events::StoredEvent& event : page.events) {
      if (event.subject_type == kProduct) PlanMenu(tx, linked_.company, event, stamp);
    }
    PutPlannedSeq(tx, linked_.company, page.position);
  });
  linked_.link.planned_seq = page.position;
}

// A few orders with each commit, for which a till may wait; `at_last` belongs to the last one. An
// order that was planned before a power cut is not planned again.
void LogFollower::CompareOrders(std::span<const std::string> ids, const AtLast& at_last) {
  const SendRules& rules = settings_.rules;
  const Makes makes = settings_.makes;
  bool is_last = false;
  while (!is_last) {
    const int64_t begun_ms = settings_.clock.MonotonicMs();
    const auto some = ids.first(std::min(ids.size(), kComparedAtOnce));
    ids = ids.subspan(some.size());
    is_last = ids.empty();
    std::vector<Compared> compared;
    settings_.database.Read([&](db::Snapshot& snapshot) {
      compared.clear();
      for (const std::string& id : some) {
        if (auto one = CompareOrder(snapshot, linked_.company, id, rules, makes)) {
          compared.push_back(*std::move(one));
        }
      }
    });
    settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
      for (const std::string& id : some) FinishCancel(tx, linked_.company, id, rules, stamp);
      for (const Compared& one : compared) {
        StoreCompared(tx, linked_.company, one, rules, makes, stamp);
      }
      if (is_last) at_last(tx, stamp);
    });
    settings_.pass.Rest(settings_.clock.MonotonicMs() - begun_ms);
  }
}

// The orders from before the link, in parts.
void LogFollower::ScanOlder() {
  while (linked_.link.scanned_id) {
    const std::vector<std::string> ids = settings_.database.Read([&](db::Snapshot& snapshot) {
      return orders::FindIdsAfter(snapshot, linked_.company, *linked_.link.scanned_id,
                                  kScannedAtOnce);
    });
    const auto last = ids.empty() ? std::nullopt : std::optional(ids.back());
    CompareOrders(ids,
                  [&](db::Tx& tx, const db::Stamp&) { PutScannedId(tx, linked_.company, last); });
    linked_.link.scanned_id = last;
  }
}

void LogFollower::RestartScan() {
  settings_.database.Write(
      [&](db::Tx& tx, const db::Stamp&) { PutScannedId(tx, linked_.company, ""); });
  linked_.link.scanned_id = "";
  ScanOlder();
}

}  // namespace comanda::cloud
