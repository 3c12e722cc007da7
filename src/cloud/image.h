#pragma once

// The image of an order: what the cloud has of it, or will have once the steps in the journal are
// accepted. The planner compares it with the order as it stands here; the difference is what is
// still to be sent. What the cloud itself has changed is noted in the image by the code that reads
// its orders. The journal stores the image as JSON.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

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

// A row of the order: an item, a payment or a discount.
struct Row {
  bool is_cancelled = false;
  std::string cloud_id;  // empty: the cloud has not accepted it yet

  bool operator==(const Row&) const = default;
};
// By the id of the row here.
using Rows = std::map<std::string, Row, std::less<>>;

struct Image {
  int64_t last_position = 0;  // of the steps planned so far
  bool is_placed = false;
  Fields fields;
  // Removed discounts are cancelled rows: the step that removes one needs the cloud's id.
  Rows combos, payments, discounts;
  orders::Status status = orders::Status::kPending;
  std::string rider;  // the body of the PUT; empty: no rider
  std::optional<orders::DeliveryStatus> delivery_status;
  std::optional<std::string> delivery_status_reason;
  // Set by the rider's PUT, so that the rider's DELETE takes it back.
  bool delivery_status_by_rider = false;

  bool operator==(const Image&) const = default;
};

std::string ToJson(const Image& image);
// Of what ToJson() wrote. Fault kDamaged for anything else.
Image ImageFromJson(std::string_view json);

}  // namespace comanda::cloud
