#pragma once

// The journal of the sync (contract section 15.1): of each order its mirror
// (cloud/orders/mirror.h), the request under way, and why nothing of it is sent, if so. What an
// order still has to send is not in it: that is where the order differs from its mirror
// (cloud/orders/pending.h). The menu is an order without an id, whose requests wait one after the
// other (cloud/menu/menu_push.h).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cloud/orders/mirror.h"
#include "cloud/orders/step.h"

namespace comanda::cloud {

// Why nothing of an order is sent. The database stores the names.
inline constexpr std::string_view kParkedRefused = "refused";
inline constexpr std::string_view kCancelledButPaid = "cancelled_but_paid";
inline constexpr std::string_view kParkedGone = "gone";
inline constexpr std::string_view kParkedUnanswered = "unanswered";

// An order that is neither finalised nor cancelled, or was changed within this time, goes before
// the backlog.
inline constexpr int64_t kPresentMs = 600'000;

// A request that waits for its answer: key and body are on disk before it is sent, and never
// change, so that a repetition after any cut has one effect.
struct Waiting {
  std::string order_id;
  Step step;
  int64_t attempts = 0;  // of the menu's requests
};

struct Counts {
  int64_t steps_waiting = 0;  // that are still to be accepted, of orders that are not parked
  int64_t orders_parked = 0;
  int64_t differences = 0;
  int64_t unreadable = 0;       // of these, orders of the cloud whose record cannot be read
  std::optional<UtcMs> oldest;  // the first change that waits, of orders that are not parked
};

// How far back orders are compared with a cloud that may have gone back to an earlier time: as long
// as it takes their dates (contract section 15.6).
inline constexpr int64_t kSentOrdersMs = 45LL * 24 * 60 * 60 * 1000;

// Which orders may be next: those that are neither finalised nor cancelled, those that were changed
// within kPresentMs, or all.
enum class Among : uint8_t { kOpen, kRecent, kAll };

struct Parked {
  std::string order_id;
  std::string why;      // kParkedRefused, kCancelledButPaid, kParkedGone, kParkedUnanswered
  std::string problem;  // the problem document of the refusal, or empty
};

// The database stores the names.
enum class DifferenceKind : uint8_t {
  kLink,       // a reference, or a row of the restaurant, that was left out
  kReference,  // the cloud has the order under another reference
  kRow,        // a row that the cloud does not show
  kStatus,     // of the order or of its delivery
  kDate,       // another business day, or a scheduled date that was left out
  kMenu,
  kDiscarded,   // a person has discarded what was not sent
  kUnreadable,  // a record of the cloud
  // What both sides show of an order (cloud/orders/sides.h); six in the order of kFieldNames.
  kTotals,
  kComment,
  kOrderTitle,
  kDeliveryComment,
  kScheduledDeliveryDate,
  kDeliveryPrice,
  kPackagingPrice,
  kCombos,
  kPayments,
  kDiscounts,
  kRider,
};
inline constexpr std::array<std::string_view, 19> kDifferenceKindNames = {
    // Of no member of an order:
    "link", "reference", "row", "status", "date", "menu", "discarded", "unreadable",
    // Of a member:
    "totals", "comment", "order_title", "delivery_comment", "scheduled_delivery_date",
    "delivery_price", "packaging_price", "combos", "payments", "discounts", "rider"};
static_assert(kDifferenceKindNames.size() == static_cast<size_t>(DifferenceKind::kRider) + 1);
constexpr std::string_view Name(DifferenceKind kind) {
  return kDifferenceKindNames[static_cast<size_t>(kind)];
}

// What is not the same on both sides, or was left out.
struct Difference {
  std::string order_id;  // empty: not of an order
  DifferenceKind kind = DifferenceKind::kLink;
  std::string box, cloud;  // what each side has
  std::string detail;
  UtcMs at = 0;
};

}  // namespace comanda::cloud
