#pragma once

// The records of this room.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "db/session.h"

namespace comanda::company {

// One restaurant: the tenant, and the owner of an event stream (contract section 10).
struct Company {
  // The number of the company in this database.
  db::CompanyId company_id;
  // The UUID, elsewhere called company_uuid.
  std::string id;
  std::string name;
  std::optional<std::string> description, logo, public_url, phone;
  std::optional<std::string> address, area, city, state, postal_code, latitude, longitude;
  std::string country_code;
  std::string timezone;
  // JSON with seven weekdays, as company/json.h writes it.
  std::string business_hours;
  std::optional<std::string> language;
  std::string currency;
  int currency_decimals = 2;
  // Start of the business day, minutes after local midnight.
  int day_starts_at = 0;
  // Seconds east of UTC, as last known (company/zones.h); nothing if it never was.
  std::optional<int> utc_offset_s;
  UtcMs created_at = 0;
  UtcMs updated_at = 0;
};

// Sorted like the bits of PaymentMethod::service_types.
inline constexpr std::array<std::string_view, 4> kServiceTypes = {"ONSITE", "TABLE", "DELIVERY",
                                                                  "TAKEAWAY"};

inline constexpr uint32_t kAllServiceTypes = 0b1111;

// A way to pay that the company offers.
struct PaymentMethod {
  std::string id;
  std::string code;
  std::string description;
  // Bit mask of the service types for which it may be used: ONSITE 1, TABLE 2, DELIVERY 4, TAKEAWAY
  // 8.
  uint32_t service_types = 0;
  // Inactive methods stay for old orders, and cannot be used for new payments.
  bool active = true;
};

// A table of the dining room.
struct Table {
  std::string id;
  std::string name;
  std::optional<std::string> area;
  bool active = true;
};

}  // namespace comanda::company
