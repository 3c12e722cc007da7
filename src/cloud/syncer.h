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
#include <optional>
#include <string>

#include "base/time/clock.h"
#include "base/metrics.h"
#include "cloud/link/client.h"
#include "cloud/link/connection.h"
#include "cloud/orders/journal.h"
#include "cloud/link/line.h"
#include "cloud/link/link.h"
#include "cloud/link/linking.h"
#include "cloud/orders/orders_reader.h"
#include "cloud/orders/pending.h"
#include "cloud/restaurant/restaurant.h"
#include "cloud/status.h"
#include "cloud/sync_state.h"
#include "cloud/turns.h"
#include "config/options.h"
#include "db/database.h"
#include "events/feed.h"
#include "events/worker.h"
#include "http/room_object.h"
#include "machine/hold.h"
#include "net/network.h"
#include "outbox/courier.h"
#include "outbox/lane.h"
#include "outbox/late.h"

namespace comanda::cloud {

struct SyncerSettings {
  const config::Options& options;
  const Clock& clock;
  db::Database& database;
  events::Feed& feed;
  net::Network& network;
  const machine::Hold* hold = nullptr;  // nothing is sent or read while it holds; null: none
};

class Syncer final : public http::RoomObject, private Line {
 public:
  Syncer(SyncerSettings settings, Heartbeats& heartbeats, metrics::Registry& registry);
  // Ends the request under way.
  ~Syncer() override;

  // To be called when a transaction has changed the link, or what is parked: everything is due at
  // once. Any thread.
  void NoteChange() { courier_.NoteChange(); }
  // The same when all is to be read again, by `comanda cloud resume`. Any thread.
  void ReadAgain() {
    reads_again_ = true;
    NoteChange();
  }

  // Reads the key and the authorities again; where they are the same, a connection goes on. Any
  // thread.
  void Reload() { NoteChange(); }

  // What /readyz and `comanda cloud status` show. Any thread.
  Progressing progress() const;

  // Why nothing is sent or read though the sync goes on; empty: it is not held. Any thread.
  std::string WhyHeld() const { return settings_.hold ? settings_.hold->Describe() : ""; }

  // The orders whose request the cloud does not answer while it answers others, by their ids; of a
  // change of the menu the key is empty. Any thread.
  outbox::LateMessages& late() { return late_; }
  const outbox::LateMessages& late() const { return late_; }

  // Makes or renews the link (cloud/link/linking.h), and begins. Blocks for some twenty requests on
  // the caller's thread. Any thread.
  LinkResult Link(const LinkOrder& order);

 private:
  // The answer of a long poll.
  struct Polled {
    int64_t number = 0;
    net::Answer answer;
  };

  events::Worker::Done Pass(events::Worker::Pass& pass);
  void TakeChange();
  // Where connection_ has one.
  Client& client() const { return *connection_.client(); }

  void Plan();
  int64_t PlanEveryMs() const;
  void PlanNow();

  // The exchange with the cloud. These throw Interrupted.
  void Exchange();
  void LookForFeatures();
  SendRules Rules() const;
  // Of an order that is being served, or of any.
  std::optional<Waiting> NextToSend(bool is_present);
  bool Send(const Waiting& waiting);
  void NoteLate(const Waiting& waiting);
  void Probe(const std::string& trouble);
  bool SendNext();
  void FollowEvents();
  void TakeEvents();
  void TakeEvents(const Reply& reply);
  void Owe();
  bool OwesPoll() const;
  bool MustPoll() const;
  void PollAtOnce();
  void EndPoll();
  Reply Ask(const Request& request) override;
  Reply AskAtOnce(const Request& request);
  Reply AskForStep(const Request& request);
  void WaitForPace();
  void Judge(const Reply& reply);

  void ReadLink();
  void NoteHeard();
  void Fail(const Reply& reply);
  void Delay(std::string_view why);
  outbox::Moment Now() const;
  void Stop(std::string reason);
  void Publish();
  void NoteTraffic();
  std::optional<int64_t> DueInMs();

  const SyncerSettings settings_;

  // Used by the worker's thread alone.
  std::optional<Linked> linked_;
  OrdersReader orders_;
  Restaurant restaurant_;
  events::Worker::Pass* pass_ = nullptr;  // during Pass()
  int64_t seen_changes_ = -1;
  int64_t planned_ms_ = -1'000'000;  // monotonic
  std::optional<net::Network::Ticket> polling_;
  int64_t poll_number_ = 0;  // of the poll whose answer counts
  // The cloud may have gone back to an earlier time since it answered a poll of its events
  // (cloud/orders/went_back.h): one is answered before a step is sent.
  bool is_poll_owed_ = true;
  bool is_echoing_ = false;   // the last poll of the events showed echoes alone
  int sent_since_poll_ = 0;   // steps, since that poll
  int64_t polled_at_ms_ = 0;  // monotonic; when the last answer came
  int64_t polls_at_ms_ = 0;   // monotonic; no poll begins before, while steps wait
  std::string step_trouble_;  // why the last step was not answered
  bool has_failed_ = false;   // a pass ended with what the database threw, and none well since

  Connection connection_;
  outbox::Lane lane_;
  outbox::LateMessages late_;
  Turns turns_;
  SyncState state_;
  std::atomic<int64_t> acted_changes_{-1};  // up to which the worker has acted
  std::atomic<bool> reconnects_{false};     // the link was made again: with which authorities, too
  std::atomic<bool> reads_again_{false};

  outbox::Courier<Polled> courier_;  // last: its thread ends before what it uses
};

}  // namespace comanda::cloud
