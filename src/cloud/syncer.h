#pragma once

// The thread of the sync with the cloud (contract section 15). It follows the event log and
// compares every order that has changed with its mirror, also while the cloud cannot be reached:
// what waits is the order itself, not the log. It makes the requests at the pace that the cloud
// allows, those of orders that are being served first, those of the backlog with at least a quarter
// of the pace. Between them it reads what the cloud has changed.
//
// One request at a time, except for the long poll of the cloud's events, which waits beside the
// others.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/metrics.h"
#include "cloud/client.h"
#include "cloud/journal.h"
#include "cloud/late_orders.h"
#include "cloud/line.h"
#include "cloud/link.h"
#include "cloud/linking.h"
#include "cloud/orders_reader.h"
#include "cloud/pending.h"
#include "cloud/restaurant.h"
#include "cloud/status.h"
#include "config/options.h"
#include "db/database.h"
#include "events/feed.h"
#include "events/worker.h"
#include "machine/hold.h"
#include "net/network.h"

namespace comanda::cloud {

struct SyncerSettings {
  const config::Options& options;
  const Clock& clock;
  db::Database& database;
  events::Feed& feed;
  net::Network& network;
  const machine::Hold* hold = nullptr;  // nothing is sent or read while it holds; null: none
};

class Syncer final : private Line {
 public:
  Syncer(SyncerSettings settings, Heartbeats& heartbeats, metrics::Registry& registry);
  // Ends the request under way.
  ~Syncer() override;

  // To be called when a transaction has changed the link, or what is parked: everything is due at
  // once. Any thread.
  void NoteChange();

  // Reads the key and the authorities again; where they are the same, a connection goes on. Any
  // thread.
  void Reload() { NoteChange(); }

  // What /readyz and `comanda cloud status` show. Any thread.
  Progressing progress() const;

  // The orders that the cloud does not answer. Any thread.
  LateOrders& late() { return late_; }
  const LateOrders& late() const { return late_; }

  // Makes or renews the link (cloud/linking.h), and begins. Blocks for some twenty requests on the
  // caller's thread. Any thread.
  LinkResult Link(const LinkOrder& order);

 private:
  // Where the network thread leaves the answer of the long poll; it may outlive the syncer.
  struct Inbox;
  // What a client was made for.
  struct Connection {
    std::string url, ca_file, key;
    std::string authorities;  // their fingerprint
    bool operator==(const Connection&) const = default;
  };
  struct Gauges {
    Gauges(metrics::Registry& registry, const Syncer& syncer);
    metrics::Gauge steps_waiting, late, parked, differences, behind_seconds, requests_total,
        bytes_total;
  };

  events::Worker::Done Pass(events::Worker::Pass& pass);
  void TakeChange();
  void Connect();
  void Disconnect();

  void Plan();
  int64_t PlanEveryMs() const;
  void PlanNow();

  // The exchange with the cloud. These throw Interrupted.
  void Exchange();
  void LookForFeatures();
  SendRules Rules() const;
  std::optional<std::string> NextOrder(Among among);
  std::optional<Waiting> NextToSend(Among among);
  bool Send(const Waiting& waiting);
  void NoteLate(const Waiting& waiting);
  bool SendNext();
  void FollowEvents();
  void TakeEvents();
  Reply Ask(const Request& request) override;
  Reply AskAtOnce(const Request& request);
  Reply AskForStep(const Request& request);
  void WaitForPace();
  void Judge(const Reply& reply);

  void ReadLink();
  void Enter(State state, std::string reason);
  void NoteHeard();
  void Fail(const Reply& reply);
  void Delay(std::string_view why);
  void Stop(std::string reason);
  void Publish();
  void CountRequests();  // in progress_; mutex_ is held
  std::optional<int64_t> DueInMs();

  const SyncerSettings settings_;

  // Used by the worker's thread alone.
  std::optional<Linked> linked_;
  std::unique_ptr<Client> client_;  // null: not linked, or no_client_ says why
  std::string no_client_;
  Connection connection_;  // of client_
  // Of the clients before this one: what is counted never goes back.
  int64_t earlier_requests_ = 0, earlier_bytes_ = 0;
  OrdersReader orders_;
  Restaurant restaurant_;
  events::Worker::Pass* pass_ = nullptr;  // during Pass()
  int64_t seen_changes_ = -1;
  int failures_ = 0;                   // in a row
  int64_t retry_at_ms_ = 0;            // monotonic; nothing is asked before
  int64_t planned_ms_ = -1'000'000;    // monotonic
  std::optional<int64_t> counted_ms_;  // monotonic; what waits was counted then
  int64_t others_since_backlog_ = 0;   // requests for present orders and of readers
  std::optional<net::Network::Ticket> polling_;
  bool is_echoing_ = false;   // the last poll of the events showed echoes alone
  int sent_since_poll_ = 0;   // steps, since that poll
  int64_t polls_at_ms_ = 0;   // monotonic; no poll begins before, while steps wait
  std::string step_trouble_;  // why the last step was not answered
  bool has_failed_ = false;   // a pass ended with what the database threw, and none well since

  LateOrders late_;
  const std::shared_ptr<Inbox> inbox_;
  mutable std::mutex mutex_;
  Progressing progress_;  // guarded by mutex_
  bool is_trouble_told_ =
      false;  // in the log, and not yet that the cloud answers; guarded by mutex_
  std::atomic<int64_t> changes_{0};
  std::atomic<int64_t> acted_changes_{-1};  // up to which the worker has acted
  std::atomic<bool> reconnects_{false};     // the link was made again: with which authorities, too
  const Gauges gauges_;

  std::unique_ptr<events::Worker> worker_;  // last: it ends before what it uses
};

}  // namespace comanda::cloud
