#pragma once

// A ticket: an order as the kitchen sees it (contract section 20). It is derived from the order and
// from what the kitchen has said itself, its marks: nothing of it is stored. Which of its lines
// count and wait, and its state, depend on the time (kitchen/rules.h). Without prices, payments,
// phones, e-mails and addresses: it stands on a wall.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "orders/order.h"

namespace comanda::kitchen {

// later: scheduled, and not to be begun yet; open: a line waits; ready: none waits any more, and
// nobody has fetched the dishes; cancelled: the kitchen has not seen yet that the order was;
// closed: all else.
enum class State : uint8_t { kLater, kOpen, kReady, kCancelled, kClosed };
inline constexpr std::array<std::string_view, 5> kStateNames = {"later", "open", "ready",
                                                                "cancelled", "closed"};
constexpr std::string_view Name(State state) { return kStateNames[static_cast<size_t>(state)]; }

struct Modifier {
  std::optional<std::string> modifier_id;
  int64_t quantity = 1;  // per item
  std::string name;
  std::optional<std::string> group_name;
};

struct Line {
  std::string id;
  std::optional<std::string> station_id, product_id;
  int64_t quantity = 0;  // thousandths
  std::string name;
  std::optional<std::string> variant;  // nothing: the only one of its product
  std::vector<Modifier> modifiers;
  std::optional<std::string> comment;
  UtcMs added_at = 0;
  std::optional<UtcMs> canceled_at;
  bool is_prepared = true;  // at its station; false: the station only hands it out
  // The mark.
  std::optional<UtcMs> done_at;
  std::optional<std::string> done_by;  // the name of the key
  // Of a line whose mark was taken back, or that was called back without one: Ticket::moves then.
  std::optional<int64_t> undone_moves;
};

// A move of an order by which its dishes were called ready.
struct Call {
  int64_t move = 0;  // its number among the moves, from 0
  UtcMs at = 0;
  std::optional<int64_t> lines;  // how many the order had; nothing: an older program wrote the move
};

struct Ticket {
  std::string order_id;
  int64_t order_version = 0;
  int64_t writes = 0;  // the kitchen's own
  int64_t order_number = 0;
  std::string public_id;
  orders::Status status = orders::Status::kPending;
  orders::ServiceType service_type = orders::ServiceType::kOnsite;
  std::string source;
  std::optional<std::string> table, name, comment;
  std::optional<UtcMs> scheduled_for;
  std::optional<UtcMs> rush_at;
  std::optional<std::string> cancel_reason;
  std::optional<UtcMs> canceled_at;
  std::vector<Line> lines;

  // The last `out`, and how many lines the order had then: a later line ends it.
  std::optional<UtcMs> last_out_at;
  size_t out_lines = 0;
  // The last move to READY or DELIVERED that was made for its own sake, not a step between.
  std::optional<Call> call;
  int64_t moves = 1;    // of the order, the one that begins its life included
  UtcMs moved_at = 0;   // the last one
  int64_t lead_ms = 0;  // how long before its time a scheduled order is begun
  int64_t created_seq = 0;
  int64_t last_seq = 0;  // of the last event of the order or ticket, where that was asked for

  // Rises with each change of the order and each write of the kitchen: a client ignores a ticket
  // that has a lower one than that which it shows.
  int64_t revision() const { return order_version + writes; }
};

}  // namespace comanda::kitchen
