#pragma once

// The face of this room: delivery apps, whether the restaurant's store is open in them, and what
// they sell for it.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/heartbeat.h"
#include "base/metrics.h"
#include "db/database.h"
#include "delivery/catalogue.h"
#include "delivery/status/probes.h"
#include "delivery/orders/order_accounts.h"
#include "delivery/status/watcher.h"
#include "http/room_object.h"

namespace comanda::delivery {

// All that is referred to outlives the object.
struct DeliverySettings {
  const config::Options& options;
  const Clock& clock;
  db::Database& database;
  net::Network* network;  // null: no app is asked
  Heartbeats& heartbeats;
  metrics::Registry& metrics;
  const machine::Hold* hold = nullptr;  // no orders are asked for while it holds; null: none
  // Somebody looks at the orders of the company (http/lookers.h).
  std::function<bool(db::CompanyId company)> is_watched = [](db::CompanyId) { return false; };
  // The company is linked with a cloud, which may bring orders of apps, too.
  std::function<bool(db::Session& session, db::CompanyId company)> has_cloud =
      [](db::Session&, db::CompanyId) { return false; };
};

class Delivery : public http::RoomObject {
 public:
  explicit Delivery(const DeliverySettings& settings);

  const Catalogue& catalogue() const { return catalogue_; }
  Probes& probes() { return probes_; }
  // Null where no app is asked.
  const OrderAccounts* orders() const { return orders_ ? &*orders_ : nullptr; }
  bool HasCloud(db::Session& session, db::CompanyId company) const {
    return has_cloud_(session, company);
  }

  // Reads DIR/providers.d again. An app whose file is as before is asked when it is due. Any
  // thread.
  void Reload();
  // Credentials of that app were added or removed, its mode has changed, or something parked of it
  // is tried again: it is asked at once. Any thread.
  void NoteChange(std::string_view app);
  // A hold has ended, or there is something to be applied: apps are asked when they are due. Any
  // thread.
  void Wake();

 private:
  Catalogue catalogue_;
  Probes probes_;
  const decltype(DeliverySettings::has_cloud) has_cloud_;
  std::optional<OrderAccounts> orders_;  // this and the next: where there is a network
  std::optional<Watcher> watcher_;       // last: it uses the others
};

}  // namespace comanda::delivery
