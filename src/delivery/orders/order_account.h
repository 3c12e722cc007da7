#pragma once

// The orders of one company in one app, and the thread that brings them here. A pass:
//
//   1. follows the event log: a status that was set here becomes a command to the app;
//   2. polls the app when that is due. The answer is on disk before anything is made of it, its
//      events are on disk before the app is told that they have arrived;
//   3. applies what waits, and asks for the orders that are new;
//   4. sends the commands that wait, unless the app is only mirrored;
//   5. warns of orders that nobody accepts.
//
// Whatever fails is tried again; what the app refuses, or is no order, or has failed for a day, is
// parked for a person, and the others go on.

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
#include "delivery/orders/intake.h"
#include "delivery/orders/order_source.h"
#include "delivery/orders/orders_store.h"
#include "delivery/session.h"
#include "events/log.h"
#include "events/worker.h"
#include "machine/hold.h"
#include "net/network.h"
#include "outbox/courier.h"
#include "outbox/lane.h"

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
  // The time of the next try of an event, by its id; monotonic.
  using Times = std::map<std::string, int64_t>;

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
  // Those for what the order has reached and the app has not told itself.
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
  // event that is here already stays as it is. Parks what is no answer, and elements that are no
  // event.
  void ReadAnswer(const store::AnswerRow& answer);
  void ParkAnswer(int64_t number, const std::string& problem);
  void ParkElement(const std::string& element);
  void Acknowledge(const std::vector<AppEvent>& events);

  // Applies the events that wait and are due, the earliest first. The number that was dealt with.
  size_t ApplyAll(const Pending& pending);
  // Places the order of the event where it is not here, and makes it as the event says, in one
  // transaction. False: the app does not answer now, and the others wait, too. Refusal where the
  // app shows what is no order.
  bool ApplyOne(const company::Company& company, const EventRow& row);
  // An order as the app shows it. Nothing: the event is tried again later, or parked.
  struct Details {
    std::optional<std::string> json = {};
    bool is_answering = true;  // the app, when it was asked
  };
  Details AskDetails(const EventRow& row);
  // The same with the plain texts of what is encrypted.
  Details AskPlainTexts(const EventRow& row, std::string details);
  // The order of the event, ready to be placed. Refusal where the app shows what is none.
  Arrival PrepareFrom(std::string_view details, const company::Company& company,
                      const AppEvent& event, UtcMs received_at) const;
  // Of an order that cannot be placed: a person may want to see them.
  void KeepDetails(const AppEvent& event, const std::string& details, UtcMs received_at);
  void Park(const AppEvent& event, const std::string& problem);
  void TryEventLater(const EventRow& row);

  void SendAll(const Pending& pending);
  void SendOne(const CommandRow& row);
  // It was tried and is still to be done.
  void NoteFailure(const CommandRow& row, const CallResult& result);
  void ParkCommand(const CommandRow& row, const std::string& problem);
  // It is no longer to be done: `write` says so in the database.
  template <typename Write>
  void EndCommand(const CommandRow& row, const Write& write);

  void WarnOfUnaccepted(const Pending& pending);
  void ForgetOld();
  // What Describe() and the metrics show.
  void Publish(const Pending& pending);

  // Makes one call in a session of its own. Blocks for 20 s at most.
  CallResult Call(const OrderCall& call);
  bool IsDue(const Times& times, const std::string& key) const;

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
  Times event_times_;
  outbox::Lane lane_;  // of commands; their key is the order
  // Commands that failed since the start, by the order; `failures` is stored.
  std::map<std::string, outbox::Failing, std::less<>> failing_;
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
