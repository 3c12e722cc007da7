#include "delivery/status/watcher.h"

#include <algorithm>

#include "base/log.h"
#include "base/problem.h"
#include "base/random.h"
#include "company/companies.h"
#include "company/hours.h"
#include "company/json.h"
#include "delivery/credentials.h"
#include "delivery/json.h"
#include "delivery/store.h"
#include "events/log.h"

namespace comanda::delivery {
namespace {

// Every 60 s, 20 % more or less, so that boxes do not ask in step.
constexpr int64_t kEveryMsMin = 48'000, kEveryMsMax = 72'000;
constexpr int64_t kPassMaxMs = 5 * 60'000;

bool IsOpen(const company::Company& company, UtcMs now) {
  return company::OpenAt(company::ParseHours(company.business_hours), company::FindZone(company),
                         now);
}

std::optional<StoreStatus> StatusNamed(std::string_view name) {
  const auto found = std::ranges::find(kStoreStatusNames, name);
  if (found == kStoreStatusNames.end()) return std::nullopt;
  return static_cast<StoreStatus>(found - kStoreStatusNames.begin());
}

}  // namespace

Watcher::Watcher(WatcherSettings settings, Heartbeats& heartbeats, metrics::Registry& registry)
    : settings_(settings),
      worker_({.name = "delivery apps", .heartbeat_max_ms = kPassMaxMs}, heartbeats, registry,
              [this](events::Worker::Pass& pass) { return Pass(pass); }) {}

events::Worker::Done Watcher::Pass(events::Worker::Pass& pass) {
  if (settings_.database.IsReadOnly()) return {.due_in_ms = kEveryMsMin};
  const auto companies =
      settings_.database.Read([](db::Snapshot& snapshot) { return company::All(snapshot); });
  for (const company::Company& company : companies) {
    pass.Beat();
    Look(company);
  }
  const int64_t wait_ms =
      kEveryMsMin + static_cast<int64_t>(RandomBelow(kEveryMsMax - kEveryMsMin + 1));
  return {.due_in_ms = wait_ms};
}

void Watcher::Look(const company::Company& company) {
  const CredentialsPlace place = {settings_.options.data_directory, company.id};
  Catalogue::Providers providers = settings_.catalogue.Of(company.country_code);
  std::erase_if(providers, [&](const auto& provider) {
    return !provider->status || !FindCredentials(place, *provider);
  });
  if (providers.empty() || !IsOpen(company, settings_.clock.Now())) return;
  for (const StatusRow& row : settings_.probes.Find(company, providers)) Take(company, row);
}

void Watcher::Take(const company::Company& company, const StatusRow& row) {
  const auto [known, is_added] = watched_.try_emplace({company.id, row.provider_name});
  if (is_added) {
    const auto reported = settings_.database.Read([&](db::Snapshot& snapshot) {
      return store::FindState(snapshot, company.company_id, row.provider_name);
    });
    if (reported) known->second.reported = StatusNamed(*reported);
  }
  const StateNews news = delivery::Take(known->second, row.status, settings_.clock.MonotonicMs());
  if (!news.is_new) return;
  try {
    settings_.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
      store::PutState(tx, company.company_id, row.provider_name, Name(row.status));
      if (news.is_first) return;
      events::Append(tx, company.company_id, stamp,
                     {.company_uuid = company.id,
                      .type = events::Type::kStoreStatusChanged,
                      .changes = {},
                      .subject_id = row.provider_name,
                      .body = Render(row)});
    });
  } catch (...) {
    watched_.erase(known);  // the next pass reads what was told
    throw;
  }
}

}  // namespace comanda::delivery
