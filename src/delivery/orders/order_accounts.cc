#include "delivery/orders/order_accounts.h"

#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/problem.h"

namespace comanda::delivery {

OrderAccounts::OrderAccounts(OrderAccountSettings settings, Heartbeats& heartbeats,
                             metrics::Registry& registry)
    : settings_(std::move(settings)), heartbeats_(heartbeats), registry_(registry) {
  try {
    Start();
  } catch (const Fault& fault) {  // a database that cannot be read
    log::Error("no delivery app is asked for orders", {{"why", fault.cause}});
  }
}

void OrderAccounts::NoteChange(std::string_view app) {
  Start();
  const std::lock_guard lock(mutex_);
  for (auto& [key, account] : accounts_) {
    account->NoteChange(key.second == app ? OrderAccount::Change::kAccount
                                          : OrderAccount::Change::kOthers);
  }
}

void OrderAccounts::Start() {
  const auto keys =
      settings_.database.Read([](db::Snapshot& snapshot) { return store::FindActive(snapshot); });
  const std::lock_guard lock(mutex_);
  for (const AccountKey& key : keys) {
    if (accounts_.contains({key.company.value, key.app})) continue;
    try {
      auto account = std::make_unique<OrderAccount>(settings_, key, heartbeats_, registry_);
      accounts_.emplace(std::pair(key.company.value, key.app), std::move(account));
    } catch (const std::system_error& error) {  // the system grants no thread
      log::Error("a delivery app is not asked for orders",
                 {{"app", key.app}, {"why", error.what()}});
    }
  }
}

std::string OrderAccounts::Describe() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [key, account] : accounts_) {
    const std::string state = account->Describe();
    if (!state.empty()) text += (text.empty() ? "" : ", ") + state;
  }
  return text;
}

std::string OrderAccounts::Describe(db::CompanyId company, const std::string& app) const {
  const std::lock_guard lock(mutex_);
  const auto account = accounts_.find({company.value, app});
  return account == accounts_.end() ? "" : account->second->Describe();
}

}  // namespace comanda::delivery
