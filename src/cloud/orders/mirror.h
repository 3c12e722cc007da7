#pragma once

// The mirror of an order: what the cloud has of it, as far as this box knows. It changes only by
// what the cloud has answered or shown, never by what is to be sent: what is to be sent is where
// the local order differs from it (cloud/orders/next.h). The database keeps it as JSON.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "orders/order.h"

namespace comanda::cloud {

// The fields that a creation and a PATCH of an order set. Money is in minor units.
struct Fields {
  std::optional<std::string> comment, order_title, delivery_comment;
  std::optional<UtcMs> scheduled_delivery_date;
  Minor delivery_price = 0;
  Minor packaging_price = 0;

  bool operator==(const Fields&) const = default;
};

Fields FieldsOf(const orders::Order& order);
void SetFields(orders::Order& order, const Fields& fields);
// Calls with(name, member) for each; three instances of `with` serve the six.
template <typename With>
void ForEachField(With with) {
  using Text = std::optional<std::string> Fields::*;
  static constexpr std::array<std::pair<std::string_view, Text>, 3> kTexts = {
      {{"comment", &Fields::comment},
       {"order_title", &Fields::order_title},
       {"delivery_comment", &Fields::delivery_comment}}};
  static constexpr std::array<std::pair<std::string_view, Minor Fields::*>, 2> kPrices = {
      {{"delivery_price", &Fields::delivery_price}, {"packaging_price", &Fields::packaging_price}}};
  for (const auto& [name, text] : kTexts) with(name, text);
  with("scheduled_delivery_date", &Fields::scheduled_delivery_date);
  for (const auto& [name, price] : kPrices) with(name, price);
}
inline constexpr std::array<std::string_view, 6> kFieldNames = {
    "comment",        "order_title",    "delivery_comment", "scheduled_delivery_date",
    "delivery_price", "packaging_price"};

// A row of the order: an item, a payment or a discount.
struct Row {
  bool is_cancelled = false;
  std::string cloud_id;  // empty: not known yet

  bool operator==(const Row&) const = default;
};
// By the id of the local row.
using Rows = std::map<std::string, Row, std::less<>>;

// What the cloud showed when it showed the order last, in its own words: a change of the cloud is
// what differs from it. A cloud may accept a rider and show him otherwise; that is no change.
struct LastShown {
  int64_t version = 0;   // 0: not shown
  UtcMs updated_at = 0;  // 0: not shown
  // The entity tag of that version, where the cloud gave one with its answer to a request.
  std::string etag;
  // The body that assigns the rider (cloud/orders/bodies.h); empty: no rider. Nothing: not shown.
  std::optional<std::string> rider;
  // The name; empty: none. Nothing: not shown.
  std::optional<std::string> delivery_status;
  std::optional<std::string> delivery_status_reason;
  std::optional<std::string> cancel_reason;
  // The creation dates of both sides have been compared.
  bool is_dated = false;

  bool operator==(const LastShown&) const = default;
};

struct Mirror {
  int64_t last_position = 0;  // of the requests made so far; it numbers their keys
  // Of the database (events/log.h), when the cloud showed the order last; 0: it was never restored.
  int64_t epoch = 0;
  bool is_placed = false;
  // The cloud may have lost some of it: nothing is sent before the order was read
  // (cloud/orders/went_back.h).
  bool is_to_read = false;
  // SendRules::went_back_at (cloud/orders/pending.h), when the cloud showed the order last.
  UtcMs compared_for = 0;
  Fields fields;
  // Removed discounts are cancelled rows: the request that removes one needs the cloud's id.
  Rows combos, payments, discounts;
  orders::Status status = orders::Status::kPending;  // the furthest that the cloud has had
  std::string rider;                                 // the body of the PUT; empty: no rider
  std::optional<orders::DeliveryStatus> delivery_status;
  std::optional<std::string> delivery_status_reason;
  // Set by the rider's PUT, so that the rider's DELETE takes it back.
  bool delivery_status_by_rider = false;
  // Requests that the cloud has refused, and that nobody waits for: Identity() of each.
  std::set<std::string, std::less<>> given_up;
  LastShown shown;

  bool operator==(const Mirror&) const = default;
};

std::string ToJson(const Mirror& mirror);
// Of what ToJson() wrote. Fault kDamaged for anything else.
Mirror MirrorFromJson(std::string_view json);

}  // namespace comanda::cloud
