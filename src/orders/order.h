#pragma once

// The nouns of the room (specification, Order to Discount; contract section 7). Money in minor
// units, quantities in thousandths. A combo and its modifiers carry line totals, as the record
// shows them.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/money.h"

namespace comanda::orders {

// In the order of an order's life; the number is its rank, and what the database keeps.
enum class Status : uint8_t { kPending, kPreparing, kReady, kDelivered, kFinalized, kCancelled };
inline constexpr std::array<std::string_view, 6> kStatusNames = {
    "PENDING", "PREPARING", "READY", "DELIVERED", "FINALIZED", "CANCELLED"};
constexpr std::string_view Name(Status status) { return kStatusNames[static_cast<size_t>(status)]; }

enum class ServiceType : uint8_t { kOnsite, kTable, kDelivery, kTakeaway };
inline constexpr std::array<std::string_view, 4> kServiceTypeNames = {"ONSITE", "TABLE", "DELIVERY",
                                                                      "TAKEAWAY"};
constexpr std::string_view Name(ServiceType type) {
  return kServiceTypeNames[static_cast<size_t>(type)];
}

// The first five in the order of a delivery; NOT_DELIVERED stands beside them.
enum class DeliveryStatus : uint8_t {
  kRiderAssigned,
  kArrivedAtStore,
  kOnTheWay,
  kArrivedAtDestination,
  kDelivered,
  kNotDelivered,
};
inline constexpr std::array<std::string_view, 6> kDeliveryStatusNames = {
    "RIDER_ASSIGNED",
    "DRIVER_ARRIVED_AT_STORE",
    "DRIVER_ON_THE_WAY_TO_DESTINATION",
    "DRIVER_ARRIVED_AT_DESTINATION",
    "DELIVERED",
    "NOT_DELIVERED"};
constexpr std::string_view Name(DeliveryStatus status) {
  return kDeliveryStatusNames[static_cast<size_t>(status)];
}

enum class DiscountType : uint8_t { kAmount, kPercentage };
inline constexpr std::array<std::string_view, 2> kDiscountTypeNames = {"AMOUNT", "PERCENTAGE"};
constexpr std::string_view Name(DiscountType type) {
  return kDiscountTypeNames[static_cast<size_t>(type)];
}

// The channel of orders that came through this API: the only ones that it may edit.
inline constexpr std::string_view kApiSource = "API";

// Caps of an order (contract section 1), cancelled rows included.
inline constexpr size_t kCombosMax = 500;
inline constexpr size_t kCombosPerCallMax = 200;
inline constexpr size_t kModifiersMax = 50;
inline constexpr size_t kPaymentsMax = 100;
inline constexpr size_t kDiscountsMax = 50;
inline constexpr size_t kCommentMax = 500;        // characters of one comment
inline constexpr size_t kWholeCommentMax = 2000;  // of all that were appended

// Percentages are kept in units of 10^-4 percent, quantities in 10^-3.
inline constexpr int kPercentageDecimals = 4;
inline constexpr int kQuantityDecimals = 3;
inline constexpr int64_t kOneInThousandths = 1000;

// The Idempotency-Key of the request that made a row or a status change; none where it had none.
// Whoever repeats the order elsewhere sends the same key.
using RequestKey = std::optional<std::string>;

struct Modifier {
  std::string id;
  std::optional<std::string> modifier_id;
  std::string name;
  int64_t quantity = 0;  // thousandths: of the modifier x of the item
  Minor price = 0;
  Minor original_price = 0;
  // As they were sent: per item, so that the line can be repeated elsewhere to the cent.
  int64_t unit_quantity = 1;  // whole
  Minor unit_price = 0;
  Minor original_unit_price = 0;

  bool operator==(const Modifier&) const = default;
};

struct Combo {
  std::string id;
  std::optional<std::string> product_id, variant_id;
  std::string product_name;
  std::optional<std::string> product_category_name, variant_name, sku;
  int64_t quantity = 0;  // thousandths
  std::optional<std::string> comment;
  Minor variant_price = 0;
  Minor variant_original_price = 0;
  Minor modifiers_price = 0;
  Minor combo_price = 0;
  Minor combo_original_price = 0;
  Minor variant_unit_price = 0;  // this and the next as they were sent
  Minor variant_original_unit_price = 0;
  std::vector<Modifier> modifiers;
  std::optional<std::string> kitchen_id;
  int64_t stock_taken = 0;  // thousandths; given back when the combo is cancelled
  UtcMs created_at = 0;
  std::optional<UtcMs> canceled_at;
  RequestKey request_key;

  bool operator==(const Combo&) const = default;
};

// The company's way to pay, as it was called when the payment was made.
struct PaidWith {
  std::string id;
  std::string code;
  std::string description;

  bool operator==(const PaidWith&) const = default;
};

struct Payment {
  std::string id;
  PaidWith method;
  Minor amount = 0;  // the part applied to the bill
  Minor tip_amount = 0;
  std::optional<Minor> received_amount;  // cash handed over
  std::optional<std::string> reference, comment;
  UtcMs created_at = 0;
  std::optional<UtcMs> canceled_at;
  RequestKey request_key;

  bool operator==(const Payment&) const = default;
};

struct Discount {
  std::string id;
  int64_t position = 0;  // grows; rows before it may have been removed
  DiscountType type = DiscountType::kAmount;
  int64_t value = 0;  // minor units, or 10^-4 percent
  Minor amount = 0;   // its effect
  std::optional<std::string> reason;
  UtcMs created_at = 0;
  RequestKey request_key;

  bool operator==(const Discount&) const = default;
};

struct Rider {
  std::string provider;
  std::optional<std::string> user_id;  // JSON, a text or an integer, as it was sent
  std::optional<std::string> name, phone_number, country_calling_code;
  UtcMs assigned_at = 0;

  bool operator==(const Rider&) const = default;
};

struct StatusChange {
  Status status = Status::kPending;
  UtcMs at = 0;
  std::string by;        // "key:<id>", "app:<provider>", "cloud", "local"
  bool implied = false;  // filled in by a jump: not for kitchen statistics
  RequestKey request_key;

  bool operator==(const StatusChange&) const = default;
};

// What the rows of an order add up to; computed by pricing alone.
struct Totals {
  Minor subtotal = 0;  // active combos, before discounts
  Minor total_discounts = 0;
  Minor total_tips = 0;  // no part of the total
  Minor total = 0;
  Minor total_paid = 0;
  bool paid = false;

  Minor pending_amount() const { return total > total_paid ? total - total_paid : 0; }
  Minor overpayment() const { return total_paid > total ? total_paid - total : 0; }
  bool operator==(const Totals&) const = default;
};

struct Order {
  int64_t company = 0;     // the company inside this database file
  std::string company_id;  // its UUID
  std::string id;
  std::string public_id;
  int64_t order_number = 0;
  std::optional<std::string> reference;    // the Idempotency-Key of its creation
  std::optional<std::string> fingerprint;  // of that request
  std::string source;
  std::string country_code;
  std::string timezone;
  std::string currency;
  int currency_decimals = 2;
  int64_t version = 0;

  Status status = Status::kPending;
  ServiceType service_type = ServiceType::kOnsite;
  std::vector<StatusChange> status_history;
  std::optional<DeliveryStatus> delivery_status;
  std::optional<std::string> delivery_status_reason;
  bool delivery_status_by_rider =
      false;  // RIDER_ASSIGNED set by PUT rider, taken back by its DELETE
  std::optional<std::string> delivered_by;
  std::optional<Rider> rider;
  std::optional<std::string> cancel_reason;
  std::optional<UtcMs> canceled_at, closed_at;
  std::optional<UtcMs> scheduled_delivery_date;

  // Snapshots are JSON, of the moment when the reference was made.
  std::optional<std::string> client_id, client;
  std::optional<std::string> table_id, table;
  std::optional<std::string> address_id, address;
  std::optional<std::string> comment, order_title, delivery_comment;

  Minor delivery_price = 0;
  Minor packaging_price = 0;
  Minor service_fee_price = 0;
  Totals totals;
  std::optional<UtcMs> paid_at;

  std::vector<Combo> combos;
  std::vector<Payment> payments;
  std::vector<Discount> discounts;

  UtcMs created_at = 0;
  UtcMs updated_at = 0;

  // What the database keeps beside the order.
  std::optional<std::string> external_id;  // given by another channel, unique within its source
  int64_t facet = 0;                       // stands for the values that lists filter by (store.h)
  int64_t created_seq = 0;                 // the number of the event of its creation
  std::optional<int64_t> record_seq;       // the event whose body is the record (record.h)
  int64_t render_version = 0;              // of that body
};

}  // namespace comanda::orders
