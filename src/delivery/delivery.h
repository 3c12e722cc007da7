#pragma once

// The face of this room: delivery apps, and whether the restaurant's store is open in them.

#include <functional>
#include <optional>
#include <string>

#include "base/heartbeat.h"
#include "base/metrics.h"
#include "db/database.h"
#include "delivery/catalogue.h"
#include "delivery/lookups.h"
#include "delivery/watcher.h"

namespace comanda::delivery {

// All that is referred to outlives the object.
struct DeliverySettings {
  const config::Options& options;
  const Clock& clock;
  db::Database& database;
  net::Network* network;  // null: no app is asked
  Heartbeats& heartbeats;
  metrics::Registry& metrics;
};

class Delivery {
 public:
  explicit Delivery(const DeliverySettings& settings);

  const Catalogue& catalogue() const { return catalogue_; }
  Lookups& lookups() { return lookups_; }

  // Reads DIR/providers.d again, and asks all apps again. Any thread.
  void Reload();
  // Credentials were added or removed. Any thread.
  void NoteChange();

 private:
  Catalogue catalogue_;
  Lookups lookups_;
  std::optional<Watcher> watcher_;  // where there is a network; last: it uses the others
};

}  // namespace comanda::delivery
