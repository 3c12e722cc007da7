#pragma once

// Looks in the background whether the store is open in the apps that are configured, while the
// company is open, and tells changes: the event STORE_STATUS_CHANGED (contract section 12). A
// worker with a thread of its own (events/worker.h).

#include <map>
#include <string>
#include <utility>

#include "base/time/clock.h"
#include "base/heartbeat.h"
#include "base/metrics.h"
#include "company/company.h"
#include "config/options.h"
#include "db/database.h"
#include "delivery/catalogue.h"
#include "delivery/status/changes.h"
#include "delivery/status/probes.h"
#include "events/worker.h"

namespace comanda::delivery {

// All that is referred to outlives the watcher.
struct WatcherSettings {
  const config::Options& options;
  const Clock& clock;
  db::Database& database;
  const Catalogue& catalogue;
  Probes& probes;
};

class Watcher {
 public:
  // Starts the thread.
  Watcher(WatcherSettings settings, Heartbeats& heartbeats, metrics::Registry& registry);

  // Begins a pass soon: credentials were added. Any thread.
  void Wake() { worker_.Wake(); }

 private:
  events::Worker::Done Pass(events::Worker::Pass& pass);
  void Look(const company::Company& company);
  void Take(const company::Company& company, const StatusRow& row);

  const WatcherSettings settings_;
  // By the UUID of the company and the app. The worker's thread alone.
  std::map<std::pair<std::string, std::string>, Watched> watched_;
  events::Worker worker_;  // last: it ends before what it uses
};

}  // namespace comanda::delivery
