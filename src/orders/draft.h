#pragma once

// Drafts: the contents of a request, checked as far as that is possible without the database.
// orders/json.h reads them from bodies.
//
// A draft of combos is a vector of Combo. Line totals are computed; product_id, variant_id, sku and
// modifier_id are as they were sent; names that were not sent are empty (orders/references.h fills
// them).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orders/order.h"

namespace comanda::orders {

// A change of a field that can be null. Nothing: keep the value; an inner nothing: set it to null.
template <typename T>
using Setting = std::optional<std::optional<T>>;

// The fields of PATCH /v1/orders/{id}.
struct FieldsDraft {
  std::optional<std::string> comment;  // appended to the comment of the order
  Setting<std::string> order_title;
  Setting<std::string> delivery_comment;
  Setting<UtcMs> scheduled_delivery_date;
  // If the scheduled date is in the past: the time of the request. The date is then accepted only
  // if the order has it already.
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
  std::optional<std::string> method_id, method_code;  // at least one of them
  std::string_view amount_field = "amount";           // the name that was sent: or "bill_amount"
  bool is_by_channel = false;  // with the method of the order's app, which no till may choose
  Payment payment;
};

// Who provides the rider: the caller, or the company, whose riders are users.
enum class RiderProvider : uint8_t { kApi, kPlatform };

struct RiderDraft {
  RiderProvider kind = RiderProvider::kApi;
  std::optional<std::string> user_uuid;  // the user_id, if it is a UUID
  Rider rider;
};

struct DeliveryReport {
  DeliveryStatus status = DeliveryStatus::kRiderAssigned;
  Setting<std::string> reason;  // only with NOT_DELIVERED
};

}  // namespace comanda::orders
