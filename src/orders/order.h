#pragma once

// The types of the room (specification, Order to Discount; contract section 7). Money is in minor
// units of the order's currency, quantities are in thousandths. The prices of a combo and its
// modifiers are line totals, as the record shows them; fields with `unit` in the name are per unit.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "base/money.h"
#include "db/company_id.h"

namespace comanda::orders {

// In the order of an order's life (orders/lifecycle.h). The database stores the numbers.
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

// The first five are in the order of a delivery; NOT_DELIVERED is an outcome besides DELIVERED.
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

// The source of orders that were placed through this API. API keys may edit no others
// (orders/permission.h).
inline constexpr std::string_view kApiSource = "API";

// Maximum numbers in one order (contract section 1). Cancelled rows count.
inline constexpr size_t kCombosMax = 500;
inline constexpr size_t kCombosPerCallMax = 200;
inline constexpr size_t kModifiersMax = 50;
inline constexpr size_t kPaymentsMax = 100;
inline constexpr size_t kDiscountsMax = 50;
inline constexpr size_t kCommentMax = 500;        // characters of one comment
inline constexpr size_t kWholeCommentMax = 2000;  // characters of all appended comments together

// Percentages are stored in units of 10^-4 percent, quantities in units of 10^-3.
inline constexpr int kPercentageDecimals = 4;
inline constexpr int kQuantityDecimals = 3;
inline constexpr int64_t kOneInThousandths = 1000;

// The side that made an order, which decides who may change it (contract section 15.5). The
// database stores the numbers.
enum class Origin : uint8_t { kBox, kCloud };

// The Idempotency-Key of the request that made a row or a status change; nothing if the request had
// none. A copy of the order in another system is made with the same keys.
using RequestKey = std::optional<std::string>;

struct Modifier {
  std::string id;
  std::optional<std::string> modifier_id;
  std::optional<std::string> group_name;  // "Sauces"
  std::string name;
  int64_t quantity = 0;  // thousandths: unit_quantity times the quantity of the combo
  Minor price = 0;
  Minor original_price = 0;
  // Per item, as they were sent: the line totals can be computed from them again without rounding.
  int64_t unit_quantity = 1;  // a whole number
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
  Minor variant_unit_price = 0;  // this one and the next: per unit, as they were sent
  Minor variant_original_unit_price = 0;
  std::vector<Modifier> modifiers;
  std::optional<std::string> kitchen_id;
  int64_t stock_taken = 0;  // thousandths that the stock fell by; returned by a cancel
  UtcMs created_at = 0;
  std::optional<UtcMs> canceled_at;
  RequestKey request_key;

  bool operator==(const Combo&) const = default;
};

// The payment method, with its code and description at the time of the payment.
struct PaidWith {
  std::string id;
  std::string code;
  std::string description;

  bool operator==(const PaidWith&) const = default;
};

struct Payment {
  std::string id;
  PaidWith method;
  Minor amount = 0;  // the part that pays the bill, without the tip
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
  int64_t position = 0;  // increases; numbers of removed discounts are not used again
  DiscountType type = DiscountType::kAmount;
  int64_t value = 0;  // minor units, or 10^-4 percent
  Minor amount = 0;   // the effect on the total, computed by orders/pricing.h
  std::optional<std::string> reason;
  UtcMs created_at = 0;
  RequestKey request_key;

  bool operator==(const Discount&) const = default;
};

struct Rider {
  std::string provider;
  std::optional<std::string> user_id;  // as JSON: a text or an integer, as it was sent
  std::optional<std::string> name, phone_number, country_calling_code;
  UtcMs assigned_at = 0;

  bool operator==(const Rider&) const = default;
};

struct StatusChange {
  Status status = Status::kPending;
  UtcMs at = 0;
  std::string by;        // an actor (orders/permission.h)
  bool implied = false;  // a step that a move to a later status skipped: its time is not measured
  RequestKey request_key;
  // How many of the order's lines were there (kitchen/rules.h). Set where the change is stored;
  // none of an older program.
  std::optional<int64_t> lines;

  bool operator==(const StatusChange&) const = default;
};

// The sums of an order's rows. Only orders/pricing.h computes them.
struct Totals {
  Minor subtotal = 0;  // of the combos that are not cancelled, before discounts
  Minor total_discounts = 0;
  Minor total_tips = 0;  // not part of `total`
  Minor total = 0;
  Minor total_paid = 0;
  bool paid = false;

  Minor pending_amount() const { return total > total_paid ? total - total_paid : 0; }
  Minor overpayment() const { return total_paid > total ? total_paid - total : 0; }
  bool operator==(const Totals&) const = default;
};

struct Order {
  db::CompanyId company;
  std::string company_uuid;
  std::string id;
  std::string public_id;
  int64_t order_number = 0;
  // YYYY-MM-DD, by the zone and the day_starts_at of the moment of creation. Of an order that was
  // written before orders had it: by the day_starts_at of now, until it is written again.
  std::optional<std::string> business_day;
  std::optional<std::string> reference;    // the Idempotency-Key of its creation
  std::optional<std::string> fingerprint;  // hash of that request (http/idempotency.h)
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
  // True if PUT rider has set RIDER_ASSIGNED: DELETE rider then sets delivery_status to null again.
  bool delivery_status_by_rider = false;
  std::optional<std::string> delivered_by;
  std::optional<Rider> rider;
  std::optional<std::string> cancel_reason;
  std::optional<UtcMs> canceled_at, closed_at;
  std::optional<UtcMs> scheduled_delivery_date;

  // The id of each reference, and the record that it named at the time, as JSON.
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

  // Of an order of the cloud: the name of its status where this program has no such status, shown
  // as `foreign_status`; and the members of its record that this program does not know, as a JSON
  // object, shown too.
  std::optional<std::string> unknown_status, unknown_members;

  // Not shown in the record.
  Origin origin = Origin::kBox;
  std::optional<UtcMs> gone_at;  // since then the cloud, which made the order, has it no more
  std::optional<std::string> external_id;  // the id in another channel, unique within `source`
  int64_t facet = 0;                       // the combination of values for lists (orders/store.h)
  int64_t created_seq = 0;                 // the seq of the ORDER_CREATED event
  std::optional<int64_t> record_seq;       // the seq of the event whose body is the record
  int64_t render_version = 0;              // kRenderVersion when that body was rendered
};

}  // namespace comanda::orders
