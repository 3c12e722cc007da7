#pragma once

// What talks to others for one environment: the deliverer of webhooks, the sync with the cloud, and
// the delivery apps.

#include <functional>
#include <optional>
#include <vector>

#include "app/environment.h"
#include "app/process.h"
#include "base/time/ends.h"
#include "cloud/syncer.h"
#include "db/session.h"
#include "delivery/delivery.h"
#include "http/site.h"
#include "webhooks/deliverer.h"

namespace comanda::app {

// Methods may be called by any thread.
class Neighbours {
 public:
  // Without a network in `process` nobody is called. The environment outlives the object.
  // `is_watched`: as delivery::DeliverySettings::is_watched.
  Neighbours(Environment& environment, const Process& process,
             std::function<bool(db::CompanyId company)> is_watched);

  // Gives the handlers of their rooms what they use.
  void LendTo(http::Site& site);
  // Appends the state of each to the checks of /readyz. What leaves the box never makes it unready:
  // selling does not depend on it. Blocks for a read of the database.
  void AddReadiness(std::vector<http::Readiness>& checks);
  // The old secrets of webhooks, whose end changes what the deliverer signs with.
  EndingKind OldSecrets();
  // Reads the files again that the senders of webhooks and the sync have read: authorities, the key
  // of the cloud.
  void ReloadFiles();
  // Reads the descriptions of delivery apps again.
  void ReloadApps() { delivery_->Reload(); }
  // To be called within the commit that ends the hold of outgoing messages, and after it.
  void NoteHoldEnds();
  void NoteHoldEnded() { delivery_->Wake(); }  // it reads the database

 private:
  http::Readiness CheckSync();

  Environment& environment_;
  const Clock& clock_;
  std::optional<webhooks::Deliverer> deliverer_;
  std::optional<cloud::Syncer> syncer_;  // of the live environment
  std::optional<delivery::Delivery> delivery_;
};

}  // namespace comanda::app
