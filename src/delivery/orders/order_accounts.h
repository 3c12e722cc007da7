#pragma once

// The accounts of all companies in all apps whose orders come here: one OrderAccount for each.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/heartbeat.h"
#include "base/metrics.h"
#include "delivery/orders/order_account.h"

namespace comanda::delivery {

class OrderAccounts {
 public:
  // Begins with those that are stored. What is referred to outlives the object.
  OrderAccounts(OrderAccountSettings settings, Heartbeats& heartbeats, metrics::Registry& registry);

  // Settings or credentials of one app have changed, or something parked of it is tried again;
  // where no app is named, of none: providers were read again or the hold has ended. Any thread.
  void NoteChange(std::string_view app);

  // Those that are on, for /readyz: "ifood primary, rappi mirror: 1 parked (…)"; empty: none.
  std::string Describe() const;
  // Of one account; empty: it is off.
  std::string Describe(db::CompanyId company, const std::string& app) const;

 private:
  // Starts the accounts that are on and have no thread yet. One that is switched off keeps its
  // thread, which sleeps.
  void Start();

  const OrderAccountSettings settings_;
  Heartbeats& heartbeats_;
  metrics::Registry& registry_;
  mutable std::mutex mutex_;
  // By company and app. Guarded by mutex_.
  std::map<std::pair<int64_t, std::string>, std::unique_ptr<OrderAccount>> accounts_;
};

}  // namespace comanda::delivery
