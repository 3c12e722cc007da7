#pragma once

// All SQL of orders of apps. Functions throw Fault on a database error.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "base/money.h"
#include "db/session.h"
#include "delivery/orders/order_source.h"
#include "orders/order.h"

namespace comanda::delivery {

// What the box does with the orders of an app.
enum class Mode : uint8_t {
  kOff,      // nothing
  kMirror,   // reads the orders; the app's own tool stays in charge: no presence, no commands
  kPrimary,  // reads them, and reports to the app what happens to them
};
inline constexpr std::array<std::string_view, 3> kModeNames = {"off", "mirror", "primary"};
constexpr std::string_view Name(Mode mode) { return kModeNames[static_cast<size_t>(mode)]; }

// When an order is confirmed to the app.
enum class Accept : uint8_t {
  kAuto,     // at once, while somebody looks at the orders of this box
  kKitchen,  // by the status PREPARING
};
inline constexpr std::array<std::string_view, 2> kAcceptNames = {"auto", "kitchen"};
constexpr std::string_view Name(Accept accept) { return kAcceptNames[static_cast<size_t>(accept)]; }

// When the store is shown as open, where polling does that.
enum class Presence : uint8_t {
  kWatched,  // while the box is writable and somebody looks at its orders
  kAlways,
};
inline constexpr std::array<std::string_view, 2> kPresenceNames = {"watched", "always"};
constexpr std::string_view Name(Presence presence) {
  return kPresenceNames[static_cast<size_t>(presence)];
}

// One company's account in one app.
struct AccountKey {
  db::CompanyId company;
  std::string app;
};

// How one app is asked for orders (table delivery_app).
struct AppRow {
  Mode mode = Mode::kOff;
  Accept accept = Accept::kAuto;
  Presence presence = Presence::kWatched;
  int64_t position = 0;  // changes of the event log up to here have become commands
};

// What is known of an order of an app beside the order itself (table delivery_order).
struct OrderRow {
  std::string external_id;
  std::string order_id;  // empty: it is not placed yet
  UtcMs received_at = 0;
  bool is_accepted = false;         // the app knows that it is confirmed, or has ended it
  std::optional<UtcMs> accept_by;   // then the app cancels it
  std::optional<UtcMs> prepare_at;  // of one ordered for later
  bool is_being_confirmed = false;  // there is a command; set by FindUnaccepted() alone
  News told = News::kPlaced;        // the furthest that the app has reported
  bool is_delivered_here = false;
  Minor pending = 0;    // what is to be paid at the door
  std::string details;  // JSON, as the app shows the order
};

// A pending event of an app (table delivery_event).
struct EventRow {
  AppEvent event;
  int64_t attempts = 0;
};

// A pending command to an app (table delivery_command).
struct CommandRow {
  std::string external_id;
  CommandKind kind = CommandKind::kConfirm;
  UtcMs made_at = 0;
  int64_t attempts = 0;  // that failed
};

// What is parked for a person.
struct ParkedRow {
  std::string id;    // of the event; of a command "<order>/<kind>"; of an answer its number
  std::string what;  // event, command, answer
  std::string external_id;
  std::string problem;
};

namespace store {

// Settings
std::optional<AppRow> FindApp(db::Session& session, const AccountKey& key);
void PutApp(db::Tx& tx, const AccountKey& key, const AppRow& row);
void SetPosition(db::Tx& tx, const AccountKey& key, int64_t position);
// The accounts with another mode than off.
std::vector<AccountKey> FindActive(db::Session& session);

// Answers

// The number of the answer that is added.
int64_t AddAnswer(db::Tx& tx, const AccountKey& key, UtcMs at, std::string_view body);
struct AnswerRow {
  int64_t number = 0;
  std::string body;
};
// Those that are neither read nor found unreadable, in their order.
std::vector<AnswerRow> FindAnswers(db::Session& session, const AccountKey& key);
void RemoveAnswer(db::Tx& tx, const AccountKey& key, int64_t number);
void ParkAnswer(db::Tx& tx, const AccountKey& key, int64_t number, std::string_view problem);
// Whether an answer with that body is parked.
bool IsParked(db::Session& session, const AccountKey& key, std::string_view body);
// Those that were found unreadable before that one.
void RemoveUnreadable(db::Tx& tx, const AccountKey& key, int64_t before);

// Events
// False: it exists already.
bool AddEvent(db::Tx& tx, const AccountKey& key, const AppEvent& event, UtcMs received_at);
// Pending ones, in the order in which they happened, at most `limit`.
std::vector<EventRow> FindWaiting(db::Session& session, const AccountKey& key, int64_t limit);
void SetApplied(db::Tx& tx, const AccountKey& key, std::string_view event_id);
void CountAttempt(db::Tx& tx, const AccountKey& key, std::string_view event_id);
void ParkEvent(db::Tx& tx, const AccountKey& key, std::string_view event_id,
               std::string_view problem);

// Orders
std::optional<OrderRow> FindOrder(db::Session& session, const AccountKey& key,
                                  std::string_view external_id);
// The app's id of a local order; nothing where it is none of this app.
std::optional<std::string> FindExternalId(db::Session& session, const AccountKey& key,
                                          std::string_view order_id);
void PutOrder(db::Tx& tx, const AccountKey& key, const OrderRow& row);
// Those that the app waits for to be confirmed, the newest first.
std::vector<OrderRow> FindUnaccepted(db::Session& session, const AccountKey& key);

// The app's own tool was in charge: what it has not confirmed is not confirmed by this box.
void LeaveUnaccepted(db::Tx& tx, const AccountKey& key);

// Commands
void AddCommand(db::Tx& tx, const AccountKey& key, std::string_view external_id, CommandKind kind,
                UtcMs now);
// No more commands are sent to the app: removes the pending ones.
void DropCommands(db::Tx& tx, const AccountKey& key);
// Pending ones, the oldest first, at most `limit`.
std::vector<CommandRow> FindCommands(db::Session& session, const AccountKey& key, int64_t limit);
void SetDone(db::Tx& tx, const AccountKey& key, std::string_view external_id, CommandKind kind);
void CountAttempt(db::Tx& tx, const AccountKey& key, std::string_view external_id,
                  CommandKind kind);
void ParkCommand(db::Tx& tx, const AccountKey& key, std::string_view external_id, CommandKind kind,
                 std::string_view problem);

// Parked
std::vector<ParkedRow> FindParked(db::Session& session, const AccountKey& key);
int64_t CountParked(db::Session& session, const AccountKey& key);
// Makes what is parked under that id pending again; all of the account where it is "all". The
// number of rows.
int64_t Retry(db::Tx& tx, const AccountKey& key, std::string_view id);

// What an app said before `said_before` goes, but for what is parked; what is known of its orders
// goes for those received, and of those ordered for later prepared, before `orders_before`.
void Forget(db::Tx& tx, const AccountKey& key, UtcMs said_before, UtcMs orders_before);

}  // namespace store
}  // namespace comanda::delivery
