#pragma once

// What a caller asks for, as far as it can be checked without the database: read from bodies by
// json, by delivery/ and cloud/ from theirs.
//
// A draft of combos is a list of Combo with line totals already; what links to the menu stands in
// product_id, variant_id, sku and modifier_id as it was sent, names that were not sent are empty.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orders/order.h"

namespace comanda::orders {

// A field that may be cleared: nothing keeps it, an empty inner value clears it.
template <typename T>
using Setting = std::optional<std::optional<T>>;

// The fields of PATCH /v1/orders/{id}.
struct FieldsDraft {
  std::optional<std::string> comment;  // appended
  Setting<std::string> order_title;
  Setting<std::string> delivery_comment;
  Setting<UtcMs> scheduled_delivery_date;
  // Of a change whose date lies in the past: now. Only the date that the order has is accepted.
  std::optional<UtcMs> past_date_judged_at;
  std::optional<Minor> delivery_price;
  std::optional<Minor> packaging_price;

  bool operator==(const FieldsDraft&) const = default;
};

struct OrderDraft {
  ServiceType service_type = ServiceType::kOnsite;
  std::optional<std::string> client_id, table_id, address_id;
  FieldsDraft fields;
};

struct PaymentDraft {
  std::optional<std::string> method_id, method_code;  // at least one
  std::string_view amount_field = "amount";           // or its other name, where that was sent
  Payment payment;
};

// Whose rider it is: the caller's own, or one of the company's staff.
enum class RiderProvider : uint8_t { kApi, kPlatform };

struct RiderDraft {
  RiderProvider kind = RiderProvider::kApi;
  std::optional<std::string> user_uuid;  // where the user_id is a UUID
  Rider rider;
};

struct DeliveryReport {
  DeliveryStatus status = DeliveryStatus::kRiderAssigned;
  Setting<std::string> reason;  // only with NOT_DELIVERED
};

}  // namespace comanda::orders
