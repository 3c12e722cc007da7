#pragma once

// Follows the event log for the sync (cloud/syncer.h): compares every order that has changed with
// its mirror, and plans the push of products that were changed, also while the cloud cannot be
// reached.

#include <functional>
#include <span>
#include <string>
#include <utility>

#include "base/time/clock.h"
#include "cloud/link/link.h"
#include "cloud/orders/pending.h"
#include "db/database.h"
#include "events/log.h"
#include "events/worker.h"

namespace comanda::cloud {

struct LogFollowerSettings {
  db::Database& database;
  const Clock& clock;
  SendRules rules;
  Makes makes = Makes::kCreation;
  events::Worker::Pass& pass;
};

// One object for one time; the worker's thread.
class LogFollower {
 public:
  // `linked` is brought up to date with what is stored: planned_seq and scanned_id.
  LogFollower(LogFollowerSettings settings, Linked& linked)
      : settings_(std::move(settings)), linked_(linked) {}

  // To the end of the log. Throws what the database throws.
  void Follow();

 private:
  using AtLast = std::function<void(db::Tx& tx, const db::Stamp& stamp)>;

  void TakePage(const events::Page& page);
  void CompareOrders(std::span<const std::string> ids, const AtLast& at_last);
  void ScanOlder();
  void RestartScan();

  const LogFollowerSettings settings_;
  Linked& linked_;
};

}  // namespace comanda::cloud
