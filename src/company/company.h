#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "db/session.h"

namespace comanda::company {

// One restaurant: tenant, event stream, shard key (contract section 10).
struct Company {
  db::CompanyId company_id;
  std::string id;  // its UUID, elsewhere called company_uuid
  std::string name;
  std::optional<std::string> description, logo, public_url, phone;
  std::optional<std::string> address, area, city, state, postal_code, latitude, longitude;
  std::string country_code;
  std::string timezone;
  std::string business_hours;  // JSON, seven weekdays
  std::optional<std::string> language;
  std::string currency;
  int currency_decimals = 2;
  int day_starts_at = 0;  // minutes after local midnight
  UtcMs created_at = 0;
  UtcMs updated_at = 0;
};

// In the order of the bits of PaymentMethod::service_types.
inline constexpr std::array<std::string_view, 4> kServiceTypes = {"ONSITE", "TABLE", "DELIVERY",
                                                                  "TAKEAWAY"};

// A way to pay, as it stands in the company's list.
struct PaymentMethod {
  std::string id;
  std::string code;
  std::string description;
  uint32_t service_types = 0;  // bits: ONSITE 1, TABLE 2, DELIVERY 4, TAKEAWAY 8
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
