#pragma once

// The orders of one company in one app, and the thread that reads them. A pass:
//
//   1. follows the event log: a status that was set locally becomes a command to the app;
//   2. polls the app when that is due. The answer is on disk before it is read, its events are on
//      disk before they are acknowledged;
//   3. applies the events of known orders, and asks for the new ones;
//   4. sends the pending commands, unless the app is only mirrored;
//   5. warns of orders that nobody accepts.
//
// A call that fails while the app answers others is late (outbox/lane.h): it is tried again after
// waits that grow, and holds up its own order alone. What the app refuses, or is no order, or has
// failed for a day, is parked for a person.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "base/heartbeat.h"
#include "base/metrics.h"
#include "company/company.h"
#include "config/options.h"
#include "crypto/authorities.h"
#include "db/database.h"
#include "delivery/account.h"
#include "delivery/catalogue.h"
#include "delivery/orders/call_lane.h"
#include "delivery/orders/ingest.h"
#include "delivery/orders/order_source.h"
#include "delivery/orders/orders_store.h"
#include "delivery/session.h"
#include "events/log.h"
#include "events/worker.h"
#include "machine/hold.h"
#include "net/network.h"
#include "outbox/courier.h"

namespace comanda::delivery {

// All that is referred to outlives the account.
struct OrderAccountSettings {
  const config::Options& options;
  const Clock& clock;
  db::Database& database;
  net::Network& network;
  const Catalogue& catalogue;
  const machine::Hold* hold = nullptr;  // no app is called while it holds; null: none
  // Of every app, read once for all accounts.
  std::function<std::shared_ptr<const crypto::Authorities>()> authorities;
  // Somebody has looked at the orders of the company lately (http/lookers.h).
  std::function<bool(db::CompanyId company)> is_watched;
};

class OrderAccount {
 public:
  // Starts the thread.
  OrderAccount(OrderAccountSettings settings, AccountKey key, Heartbeats& heartbeats,
               metrics::Registry& registry);

  enum class Change : uint8_t {
    kAccount,  // of its settings or credentials, or something parked is tried again: all is due
    kOthers,   // providers were read again, the hold has ended: what the app wants to be waited for
               // goes on
  };
  // Any thread.
  void NoteChange(Change change);

  // "ifood primary: 2 orders are not accepted"; empty: it is off. Any thread.
  std::string Describe() const { return courier_.words(); }

 private:
  // What is read of the database at the beginning of a pass.
  struct PassStart {
    AppRow app;
    company::Company company;
    std::vector<store::AnswerRow> answers;  // that were not read yet
  };
  // And when the app was asked.
  struct Pending {
    AppRow app;
    company::Company company;
    std::vector<EventRow> events;
    std::vector<OrderRow> unaccepted;
    std::vector<CommandRow> commands;
    int64_t parked = 0;
  };
  events::Worker::Done Pass(events::Worker::Pass& pass);
  // After NoteChange(): forgets what was made of the former settings.
  void TakeChange();
  // Nothing: the mode is off.
  std::optional<PassStart> ReadPassStart();
  std::optional<Pending> ReadPending();
  std::optional<std::string> WhyNotAsked(const company::Company& company);

  // write(tx, row, stamp) for each row, a few of them in a commit: a till may wait for that.
  template <typename Row, typename Write>
  void WriteInParts(const std::vector<Row>& rows, const Write& write);

  // The event log. Makes commands of the changes behind position_, and stores the position with
  // them. True where the log has more.
  bool FollowLog(const AppRow& app);
  void NoteForeignOrder(const std::string& order_id);
  // Those for what the order has reached and the app has not reported itself.
  std::vector<CommandKind> CommandsOf(const orders::Order& order, const OrderRow& row) const;
  // Nothing where the app wants no such command.
  std::optional<OrderCall> CallFor(const OrderRow& row, CommandKind kind) const;
  // Whether the store may be shown as open, and orders be confirmed by themselves.
  bool IsWatched(const AppRow& app) const;
  void AcceptAll(Pending& pending);

  // Asks the app for news, and says when it is asked next.
  void Poll(const AppRow& app);
  // Puts the answer on disk, and reads it. Returns why there is none; nothing: there is one.
  std::optional<std::string> PollOnce(const OrderCall& call);
  // Makes events of an answer that is on disk, and acknowledges them when all are on disk, too; an
  // event that is stored already stays as it is. Parks what is no answer, and elements that are no
  // event.
  void ReadAnswer(const store::AnswerRow& answer);
  void ParkAnswer(int64_t number, const std::string& problem);
  void ParkElement(const std::string& element);
  void Acknowledge(const std::vector<AppEvent>& events);

  // Applies the events that are due, the earliest first, then places the orders that are new, each
  // with its events. The number of events that were dealt with.
  size_t ApplyAll(const Pending& pending);
  std::optional<OrderRow> FindOrder(const EventRow& row);
  // Where `work` throws Refusal, or Fault kDamaged, the event is parked.
  template <typename Work>
  void ParkIfRefused(const EventRow& row, const Work& work);
  // `events`: the pending ones of an order that is not placed. Refusal where the app shows what is
  // no order.
  void PlaceOrder(const company::Company& company, const std::vector<EventRow>& events);
  // Makes the order as the event says; `arrival` is placed before, in the same transaction.
  // `prepare_at`: of an order for later.
  void ApplyOne(const company::Company& company, const EventRow& row,
                std::optional<UtcMs> prepare_at, const Arrival* arrival);
  // The order of these events as the app shows it. Nothing: they are late, or parked.
  std::optional<std::string> AskDetails(const std::vector<EventRow>& events);
  // The same with the plain texts of what is encrypted.
  std::optional<std::string> AskPlainTexts(const EventRow& row, std::string details);
  // The order of the event, ready to be placed. Refusal where the app shows what is none.
  Arrival PrepareFrom(std::string_view details, const company::Company& company,
                      const AppEvent& event, UtcMs received_at) const;
  // Of an order that cannot be placed: a person may want to see them.
  void KeepDetails(const AppEvent& event, const std::string& details, UtcMs received_at);
  void CountAttempt(const EventRow& row);
  void Park(const EventRow& row, const std::string& problem);

  void SendAll(const Pending& pending);
  void SendOne(const CommandRow& row);
  void ParkCommand(const CommandRow& row, const std::string& problem);
  // It is no longer to be done: `write` says so in the database.
  template <typename Write>
  void EndCommand(const CommandRow& row, const Write& write);

  void WarnOfUnaccepted(const Pending& pending);
  void ForgetOld();
  std::string DescribeLate(const Pending& pending) const;
  // What Describe() and the metrics show.
  void Publish(const Pending& pending);

  // Makes one call in a session of its own. Blocks for 20 s at most.
  CallResult Call(const OrderCall& call);
  // The same for an order; its lane learns whether the app has answered.
  CallResult Call(CallLane& lane, const std::string& order, const OrderCall& call);
  // The app wants no call now, or is to be polled first.
  bool MustWait() const;
  // send(the rows of one order), once for each order, in the order of the lane, while calls may be
  // made.
  template <typename Row, typename Send>
  void CallInTurn(const CallLane& lane, std::vector<Row> rows, const Send& send);
  // True if the call failed because the app takes nothing now, which says nothing of its order.
  bool IsOfAll(const CallResult& result) const;
  // The call of that order failed alone; `attempts` did before. True if it has failed `tries_max`
  // times.
  bool NoteLate(CallLane& lane, const std::string& order, int64_t attempts,
                const CallResult& result, int64_t tries_max) const;

  const OrderAccountSettings settings_;
  const AccountKey key_;

  // Used by the worker's thread alone.
  events::Worker::Pass* pass_ = nullptr;  // during Pass()
  std::optional<Account> account_;
  const OrderSource* source_ = nullptr;  // of account_
  Token token_;
  int64_t seen_changes_ = -1, seen_account_changes_ = -1;
  int64_t position_ = -1;  // in the event log; -1: as it is stored
  int64_t next_poll_ms_ = 0;
  int64_t not_before_ms_ = 0;  // the app wants no call before
  int poll_failures_ = 0;      // in a row
  bool may_have_missed_ = true;
  // When an event of an order for later is applied, by its id; monotonic.
  std::map<std::string, int64_t> event_times_;
  CallLane details_, commands_;
  std::set<std::pair<std::string, int>> warned_;  // order, stage
  int64_t forgot_ms_ = 0;
  std::string poll_trouble_, foreign_trouble_;

  std::atomic<int64_t> account_changes_{0};
  std::atomic<int64_t> parked_{0}, unaccepted_{0}, waiting_{0};
  std::atomic<bool> is_asked_{false};
  const metrics::Gauge parked_gauge_, unaccepted_gauge_, waiting_gauge_, asked_gauge_;

  outbox::Courier<> courier_;  // last: its thread ends before what it uses
};

}  // namespace comanda::delivery
