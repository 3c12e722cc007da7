#pragma once

// The selection of orders that a report covers, and the rows of each report (contract section 11).
// Amounts are in minor units, quantities in thousandths.

#include <optional>
#include <string>
#include <vector>

#include "base/money.h"
#include "db/session.h"
#include "reports/period.h"

namespace comanda::reports {

// Selects the orders of a report. An empty list does not restrict. Without `statuses`, cancelled
// orders are left out of the main figures; what was cancelled in any order is always counted
// separately.
struct OrderFilter {
  db::CompanyId company;
  // When the orders were created, or the payments made and cancelled.
  std::vector<Interval> intervals;
  // Numbers of orders::Status and orders::ServiceType, as stored.
  std::vector<int64_t> statuses;
  std::vector<int64_t> service_types;
  std::vector<std::string> sources;
};

// Payments by one method.
struct MethodRow {
  std::string payment_method_id, code, name;
  int64_t count = 0;
  Minor sum_total = 0;
  Minor tips_total = 0;
  int64_t canceled_count = 0;
  Minor canceled_total = 0;
};

// Tips by one method.
struct TipRow {
  std::string payment_method_id, code, name;
  int64_t count = 0;
  Minor sum_total = 0;
};

// Sales of one modifier of a product.
struct SoldModifier {
  std::string name;
  int64_t quantity = 0;
  Minor total_sales = 0;
};

// Sales of one variant, of one product without variant, or of free-form lines of one name (without
// ids).
struct SoldRow {
  std::optional<std::string> product_id, variant_id;
  std::string product_name;
  std::optional<std::string> variant_name;
  int64_t quantity = 0;
  Minor total_sales = 0;
  // Quantity of cancelled lines, of all orders selected.
  int64_t canceled_quantity = 0;
  std::vector<SoldModifier> modifiers;
};

}  // namespace comanda::reports
