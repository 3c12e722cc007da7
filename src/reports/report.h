#pragma once

// What reports are asked, and their rows (contract section 11). Money in minor units, quantities in
// thousandths.

#include <optional>
#include <string>
#include <vector>

#include "base/money.h"
#include "db/session.h"
#include "reports/period.h"

namespace comanda::reports {

// Which orders count. An empty list: all of them; without statuses, CANCELLED orders stay out of
// the main figures, while what was cancelled is counted over all.
struct Question {
  db::CompanyId company;
  std::vector<Interval> moments;
  std::vector<int64_t> statuses;
  std::vector<int64_t> service_types;
  std::vector<std::string> sources;
};

struct MethodRow {
  std::string payment_method_id, code, name;
  int64_t count = 0;
  Minor sum_total = 0;
  Minor tips_total = 0;
  int64_t canceled_count = 0;
  Minor canceled_total = 0;
};

struct TipRow {
  std::string payment_method_id, code, name;
  int64_t count = 0;
  Minor sum_total = 0;
};

struct SoldModifier {
  std::string name;
  int64_t quantity = 0;
  Minor total_sales = 0;
};

struct SoldRow {
  std::optional<std::string> product_id, variant_id;
  std::string product_name;
  std::optional<std::string> variant_name;
  int64_t quantity = 0;
  Minor total_sales = 0;
  int64_t canceled_quantity = 0;
  std::vector<SoldModifier> modifiers;
};

}  // namespace comanda::reports
