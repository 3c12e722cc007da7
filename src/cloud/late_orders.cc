#include "cloud/late_orders.h"

#include <algorithm>

#include "base/random.h"
#include "net/backoff.h"

namespace comanda::cloud {
namespace {

constexpr net::Growth kBackoff = {.first_ms = 2'000, .max_ms = 1'800'000};

}  // namespace

LateOrder LateOrders::NoteFailure(std::string_view order_id, std::string_view trouble, UtcMs now,
                                  int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  LateOrder& late = orders_.try_emplace(std::string(order_id)).first->second;
  if (late.failures == 0) {
    late.order_id = order_id;
    late.since = now;
    late.first_at_ms = now_ms;
  }
  late.trouble = trouble;
  late.due_at_ms =
      now_ms + net::WaitWithFullJitter(kBackoff, ++late.failures, RandomBelow(UINT64_MAX));
  return late;
}

bool LateOrders::Remove(std::string_view order_id) {
  const std::lock_guard lock(mutex_);
  const auto found = orders_.find(order_id);
  if (found == orders_.end()) return false;
  orders_.erase(found);
  return true;
}

void LateOrders::Clear() {
  const std::lock_guard lock(mutex_);
  orders_.clear();
}

void LateOrders::MakeDue() {
  const std::lock_guard lock(mutex_);
  for (auto& [id, late] : orders_) late.due_at_ms = 0;
}

bool LateOrders::Contains(std::string_view order_id) const {
  const std::lock_guard lock(mutex_);
  return orders_.contains(order_id);
}

std::set<std::string, std::less<>> LateOrders::Resting(int64_t now_ms) const {
  const std::lock_guard lock(mutex_);
  std::set<std::string, std::less<>> ids;
  for (const auto& [id, late] : orders_) {
    if (late.due_at_ms > now_ms) ids.insert(id);
  }
  return ids;
}

std::optional<int64_t> LateOrders::DueInMs(int64_t now_ms) const {
  const std::lock_guard lock(mutex_);
  std::optional<int64_t> due_ms;
  for (const auto& [id, late] : orders_) {
    const int64_t ms = std::max<int64_t>(0, late.due_at_ms - now_ms);
    due_ms = std::min(due_ms.value_or(ms), ms);
  }
  return due_ms;
}

std::vector<LateOrder> LateOrders::List() const {
  const std::lock_guard lock(mutex_);
  std::vector<LateOrder> list;
  for (const auto& [id, late] : orders_) list.push_back(late);
  return list;
}

}  // namespace comanda::cloud
