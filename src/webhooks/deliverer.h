#pragma once

// Delivers the events of one database to the receivers of its webhooks: the reader of the log
// behind each subscription (events/feed.h). What goes next and what an outcome means is decided in
// receiver.h; here are the database, the network and the clock.
//
// Nothing is written when an event is committed. What was acknowledged is stored at most once a
// second, so a crash sends some messages again, with the same event_id.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "base/metrics.h"
#include "config/options.h"
#include "db/database.h"
#include "db/disk_space.h"
#include "events/marks.h"
#include "events/worker.h"
#include "http/room_object.h"
#include "machine/hold.h"
#include "net/network.h"
#include "net/outgoing_authorities.h"
#include "outbox/courier.h"
#include "webhooks/address_rules.h"
#include "webhooks/graces.h"
#include "webhooks/json.h"
#include "webhooks/receiver.h"

namespace comanda::webhooks {

// What the deliverer works with. All that is referred to outlives it.
struct DelivererSettings {
  std::string name;  // of the worker: "webhooks"
  const config::Options& options;
  const Clock& clock;
  db::Database& database;
  const db::DiskSpace& space;
  const events::Marks& marks;
  events::Feed& feed;
  net::Network& network;
  const Graces& graces;
  const machine::Hold* hold = nullptr;  // nothing but tests is sent while it holds; null: none
  size_t slots = 16;                    // transfers at once
  // The body of an event, also of a damaged one where it can be made again.
  std::function<std::optional<std::string>(db::Session&, db::CompanyId, int64_t seq)> read_body;
};

// A worker with a thread of its own (events/worker.h). Each pass takes the answers that came, reads
// the subscriptions that changed, fills the windows of the receivers from the log, sends what is
// due, and stores the progress. A receiver that hangs keeps one slot, and delays no other receiver.
class Deliverer : public http::RoomObject {
 public:
  // Starts the thread. It sends nothing before its first pass.
  Deliverer(DelivererSettings settings, Heartbeats& heartbeats, metrics::Registry& registry);
  // Ends what is under way; stores what was acknowledged.
  ~Deliverer();

  // To be called when the transaction that changed a subscription, or ended the hold, is committed.
  // Any thread.
  void NoteChange() { courier_.NoteChange(); }

  // Reads the authorities again before the next message. Any thread.
  void Reload() { authorities_.Forget(); }

  // Sends a test, and waits for its outcome, 10 s at most. Any thread.
  Delivery Test(db::CompanyId company, const Subscription& subscription,
                const std::string& company_uuid);

  // What is wrong with receivers, for /readyz; empty: nothing. Any thread.
  std::string Trouble() const { return courier_.words(); }

 private:
  // Names a subscription in the whole database.
  struct Key {
    db::CompanyId company;
    std::string id;
    bool operator<(const Key& other) const {
      return company.value != other.company.value ? company.value < other.company.value
                                                  : id < other.id;
    }
  };
  // A subscription that may send.
  struct Slot {
    std::unique_ptr<Receiver> receiver;
    std::string company_uuid;
    int64_t last_seq_at_attempt = 0;  // of the log, while the receiver is down
    bool is_stale = false;  // the row was changed: nothing more is sent until it is read again
  };
  // The answer to one attempt, as the network thread delivers it.
  struct Ended {
    Key key;
    std::string delivery_id;
    net::Answer answer;
    UtcMs at = 0;
  };

  // Called by the worker's thread alone, as what follows; Test() calls CallOf().
  events::Worker::Done Pass(events::Worker::Pass& pass);
  Moment Now() const;
  // Gives the answers of the inbox to their receivers.
  void TakeEnded();
  // Makes slots_ what the table says. A receiver whose subscription did not change is kept.
  void ReadSubscriptions();
  // Reads events into the window of a receiver that has room.
  void Refill(const Key& key, Slot& slot);
  // Looks whether the log has a message for a receiver that is down and whose window is full.
  void LookForNewer(const Key& key, Slot& slot);
  // The record after the change; nothing where that is damaged and cannot be made again.
  std::optional<std::string> RecordOf(db::Session& session, db::CompanyId company,
                                      const events::StoredEvent& event) const;
  // Of the same event always the same bytes.
  static std::string BodyOf(const Slot& slot, const Delivery& delivery,
                            const events::StoredEvent& event, std::string_view record);
  // Appends the messages of an event to the window.
  void Take(db::Session& session, const Key& key, Slot& slot, const events::StoredEvent& event,
            const std::string& record);
  // Begins transfers, one receiver after the other, while there are slots.
  void SendAll();
  // Begins the next transfer of one receiver, if a message is due and a slot is free for it.
  void SendOne(const Key& key, Slot& slot);
  // Nothing where the event is purged, or damaged and cannot be made again.
  std::optional<std::string> ReadBody(const Key& key, const Slot& slot, const Delivery& delivery);
  void Send(const Key& key, Slot& slot, Item& item, const std::string& body, const Moment& moment);
  // The request with its signature.
  net::Call CallOf(db::CompanyId company, const Subscription& subscription,
                   const Delivery& delivery, const std::string& body, UtcMs at);
  // Writes what is to be stored, at most once a second unless `at_once`.
  void Store(bool at_once);
  // What is stored of a receiver in one transaction: the first of its changed() and delivered().
  struct Piece {
    const Key* key;
    Receiver* receiver;
    size_t changed = 0, delivered = 0;
    bool is_last = false;  // of the changed ones
  };
  std::vector<Piece> NextPieces(size_t logged_max) const;
  // Merges with a row that a caller has changed meanwhile.
  void StorePiece(db::Tx& tx, const Piece& piece, UtcMs now) const;
  // The messages of all receivers whose answers are awaited.
  size_t UnderWay() const;
  // The sum of the receivers' positions, for the worker's metric.
  int64_t Position() const;
  events::WorkerSettings WorkerOf();
  // Sets the sentence for /readyz and the gauges.
  void NoteTrouble();

  const DelivererSettings settings_;

  // Used by the worker's thread alone.
  std::map<Key, Slot> slots_;
  int64_t seen_changes_ = -1;
  int64_t stored_ms_ = 0;
  int64_t looked_ms_ = 0;
  int64_t pass_ms_ = 0;
  std::shared_ptr<const Networks> networks_;
  // The receiver with which SendAll() begins: the next one at each pass, so that none starves.
  size_t first_ = 0;

  net::OutgoingAuthorities authorities_;
  std::atomic<int64_t> purges_{0};
  std::atomic<int64_t> suspended_{0}, failing_{0};  // receivers
  const metrics::Gauge suspended_gauge_, failing_gauge_;

  outbox::Courier<Ended> courier_;  // last: its thread ends before what it uses
};

}  // namespace comanda::webhooks
