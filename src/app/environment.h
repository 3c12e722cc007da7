#pragma once

// One environment: a database with its keys, limits and caches, and the dispatcher that answers
// requests with them. A box has two: live, and test, which is the sandbox. They share no data
// (contract section 14), only the disk, the clock and the metrics.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "auth/gate.h"
#include "auth/key_table.h"
#include "base/time/clock.h"
#include "base/time/ends.h"
#include "base/heartbeat.h"
#include "base/metrics.h"
#include "cloud/syncer.h"
#include "company/zones.h"
#include "config/options.h"
#include "db/database.h"
#include "db/sqlite/disk_space.h"
#include "delivery/delivery.h"
#include "events/feed.h"
#include "events/marks.h"
#include "http/dispatch.h"
#include "http/long_polls.h"
#include "integrity/checker.h"
#include "machine/hold.h"
#include "net/network.h"
#include "webhooks/deliverer.h"
#include "webhooks/graces.h"

namespace comanda::app {

// The maximum number of connections of the environment's HTTPS server.
int WorkersOf(auth::Mode mode, const config::Options& options);

// The thresholds of free disk space that the settings name.
db::SpaceSettings SpaceOf(const config::Options& options);

// DIR/live.db or DIR/test.db.
std::string DatabasePath(auth::Mode mode, const config::Options& options);

// Called repeatedly during an upgrade, with the name of its current step. An exception ends the
// upgrade.
using Upgrading = std::function<void(const std::string& step)>;
// Appends checks to those of /readyz. Called by any thread.
using MoreChecks = std::function<void(std::vector<http::Readiness>& checks)>;
// As http::Site::authority_pem.
using AuthorityPem = std::function<std::string()>;

// Methods may be called by any thread unless they say otherwise.
class Environment {
 public:
  // Opens and upgrades the database, which blocks for the time of the upgrade; loads keys and
  // change counters into memory. If the file is a restored copy, raises the epoch of its event logs
  // (app/served.h). The caller holds the lock of the data directory, or, with
  // `owns_directory` false, the directory is read-only and nothing is to be written; the arguments
  // must outlive the environment. Without a network nothing is delivered to webhooks. Fault where
  // the database cannot be used.
  Environment(
      auth::Mode mode, const config::Options& options, const Clock& clock, db::DiskSpace& space,
      http::AnswerBudget& answer_budget, net::Network* network, Heartbeats& heartbeats,
      metrics::Registry& metrics, const Upgrading& upgrading, MoreChecks more_checks = {},
      AuthorityPem authority_pem = [] { return std::string(); }, bool owns_directory = true);
  ~Environment();

  db::Database& database() { return database_; }
  http::Dispatcher& dispatcher() { return dispatcher_; }
  // Answers all waiting long polls; later ones do not wait. Called when the server stops.
  void StopWaiting() { long_polls_.Stop(); }

  // The periodic work: writes the last use of keys to the database, deletes expired events and
  // idempotency answers, completes what an import or upgrade left for later. Blocks for
  // the writer; calls `progress` between steps, which ends the chores if it throws. The thread of
  // the chores alone.
  void DoChores(const std::function<void()>& progress);
  // Runs a part of the background check (integrity/checker.h) and returns the ms to wait before the
  // next one. The thread of the checks alone.
  int64_t CheckPart(events::Worker::Pass& pass) {
    return checker_.DoPart([&] { pass.Beat(); });
  }
  // What ends by time in this database.
  Ends& ends() { return ends_; }
  // Writes to the database when keys were last used, which is kept in memory meanwhile.
  void FlushKeyUse();
  events::Marks& marks() { return marks_; }
  delivery::Delivery& delivery() { return *delivery_; }
  company::ZoneKeeper& zones() { return zones_; }
  // Reads the files again that the senders of webhooks and the sync have read: authorities, the key
  // of the cloud.
  void ReloadFiles();
  // Ends the hold of outgoing messages; false where there was none.
  bool Resume();
  // True if the database has been in use since its last upgrade for as long as the copy from before
  // it is kept (db::kUpgradeCopyKeptMs).
  bool UpgradeIsOld();

 private:
  void TakeUpCopy();
  void NoteServed();
  std::vector<EndingKind> EndingKinds();
  webhooks::DelivererSettings DelivererSettings(net::Network& network);
  cloud::SyncerSettings SyncerSettings(net::Network& network);
  std::string SyncState();
  void AddOutgoing(std::vector<http::Readiness>& checks);

  const auth::Mode mode_;
  const config::Options& options_;
  bool was_upgraded_ = false;  // this start upgraded or made the database
  const Clock& clock_;
  const db::DiskSpace& space_;
  bool is_taken_up_ = false;  // TakeUpCopy() has come to its end
  events::Feed feed_;         // before database_, whose commits call it
  http::LongPolls long_polls_;
  events::Feed::Reader long_polls_reader_;
  http::AnswerCache answers_;
  db::Database database_;
  integrity::Checker checker_;
  events::Marks marks_;
  auth::KeyTable keys_;
  auth::Gate gate_;
  http::Site site_;
  http::Dispatcher dispatcher_;
  company::ZoneKeeper zones_;
  machine::Hold hold_;  // of what the deliverer sends
  webhooks::Graces graces_;
  Ends ends_;
  // Last: they end before what they use.
  std::optional<webhooks::Deliverer> deliverer_;
  std::optional<cloud::Syncer> syncer_;  // of the live environment
  std::optional<delivery::Delivery> delivery_;
};

}  // namespace comanda::app
