#pragma once

// A delivery app that can be asked for its orders. An OrderSource translates between the app's
// calls and ours; it has no network, database, clock or state. The engine (ingest.h,
// order_account.h) is the same for all apps and reads capabilities, never names.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "delivery/orders/app_order.h"
#include "delivery/provider.h"
#include "delivery/status/rules.h"
#include "json/reader.h"

namespace comanda::delivery {

// A call to the app. `path` begins with / and is below the base of its orders (OrdersSource::base).
struct OrderCall {
  std::string method = "GET";
  std::string path;  // percent-encoded, with its query
  std::vector<std::string> headers = {};
  std::string json = {};  // empty: no body
};

// What an app reports of an order.
enum class News : uint8_t {
  kPlaced,
  kConfirmed,
  kInPreparation,
  kReady,
  kOnTheWay,
  kDelivered,
  kConcluded,
  kCancelled,
  kOther,  // without consequence
};
inline constexpr std::array<std::string_view, 9> kNewsNames = {
    "placed",    "confirmed", "preparing", "ready", "on_the_way",
    "delivered", "concluded", "cancelled", "other"};
constexpr std::string_view Name(News news) { return kNewsNames[static_cast<size_t>(news)]; }

struct AppEvent {
  std::string id;           // unique in the app
  std::string external_id;  // of the order
  News news = News::kOther;
  UtcMs at = 0;
  std::string raw;  // as JSON, for Acknowledge() and to look at
  // The order itself, as JSON, where the app sends it along; else Details() asks for it.
  std::optional<std::string> details = {};
  std::string words = {};  // why it was cancelled, in the app's words
};

// The contents of one answer.
struct Report {
  std::vector<AppEvent> events;
  std::vector<std::string> left_out = {};  // as JSON: elements that are no event
};

// What the box reports to the app, in the order of an order's life.
enum class CommandKind : uint8_t { kConfirm, kPrepare, kReady, kDispatch };
inline constexpr std::array<std::string_view, 4> kCommandNames = {"confirm", "prepare", "ready",
                                                                  "dispatch"};
constexpr std::string_view Name(CommandKind kind) {
  return kCommandNames[static_cast<size_t>(kind)];
}
// What the app reports once it has carried the command out.
constexpr News NewsOf(CommandKind kind) {
  constexpr std::array kNews = {News::kConfirmed, News::kInPreparation, News::kReady,
                                News::kOnTheWay};
  return kNews[static_cast<size_t>(kind)];
}

struct OrderCommand {
  CommandKind kind = CommandKind::kConfirm;
  std::string_view external_id;
  std::string_view order_id;  // the local one
  bool is_delivered_here = false;
  UtcMs received_at = 0;
};

struct Capabilities {
  // The answer to a poll is given once: what is not kept is lost.
  bool is_read_once = false;
  // The answer to a poll has the orders themselves; else Details() asks for each.
  bool sends_orders_along = false;
  // It reports what becomes of an order, also that it has been confirmed.
  bool tells_status = true;
  // The app cancels what is not confirmed within that time; 0: it is not known.
  int64_t accept_within_s = 0;
  int64_t poll_every_s = 30;
};

// Pure; any thread.
class OrderSource {
 public:
  virtual ~OrderSource() = default;
  virtual Capabilities capabilities() const = 0;
  // `account` has the credentials. `is_present`: the poll may show the store as open.
  virtual OrderCall Poll(const Variables& account, bool is_present) const = 0;
  // Of an app whose answers are given once: another list, of what earlier polls were answered. It
  // is read when the process starts, after a poll whose answer did not come, and instead of polls
  // where another tool is in charge.
  virtual std::optional<OrderCall> PollMissed(const Variables&) const { return std::nullopt; }
  // The contents of an answer to a poll. Nothing: it is no such answer.
  virtual std::optional<Report> Read(const Variables& account, const json::Value& answer) const = 0;
  // Calls that acknowledge the events.
  virtual std::vector<OrderCall> Acknowledge(const std::vector<AppEvent>&) const { return {}; }
  // Asks for an order.
  virtual OrderCall Details(const Variables& account, std::string_view external_id) const = 0;
  // Of an app that shows parts of an order encrypted: asks for their plain texts. Nothing where all
  // is plain.
  virtual std::optional<OrderCall> AskPlainTexts(const json::Value&) const { return std::nullopt; }
  // The details as JSON, with the plain texts of the answer, if there are any.
  virtual std::string WithPlainTexts(const json::Value& details, const json::Value&) const {
    return details.Canonical();
  }
  // Throws Refusal validation_failed where the money or the dishes cannot be known: a total that is
  // missing or in another currency, an amount below zero, no dish, a dish without a quantity. What
  // else cannot be read is left out and named in AppOrder::unread. So are texts that are still
  // encrypted, but for the name.
  virtual AppOrder Map(const json::Value& details, std::string_view currency,
                       int currency_decimals) const = 0;
  // Nothing where the app wants no such command for this order.
  virtual std::optional<OrderCall> Tell(const Variables& account,
                                        const OrderCommand& command) const = 0;
  // Whether a command was refused because it has been carried out already: an answer may be lost.
  virtual bool IsDoneAlready(int, std::string_view) const { return false; }
};

// Of that dialect (provider.h); lives as long as the process.
const OrderSource& SourceOf(Dialect dialect);

}  // namespace comanda::delivery
