#pragma once

// An order as a delivery app has it, in one form for all apps. Plain values. Money is in minor
// units of the company's currency, quantities are in thousandths.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/money.h"
#include "orders/order.h"

namespace comanda::delivery {

// `price` is that of the whole line, options excluded.
struct AppOption {
  std::string name;
  std::optional<std::string> external_code;  // sku of a modifier, if the restaurant set it there
  int64_t quantity = 1'000;
  Minor price = 0;
};

struct AppLine {
  std::string name;
  std::optional<std::string> external_code;  // sku of a variant
  int64_t quantity = 1'000;
  std::optional<std::string> comment;
  Minor total = 0;  // options included
  std::vector<AppOption> options;
};

struct AppDiscount {
  Minor amount = 0;
  std::string reason;  // the app's words, with who pays for it
};

// What the ticket shows of the customer; nothing else of them is read.
struct AppCustomer {
  std::optional<std::string> name, phone;
  std::optional<std::string> address, area, city, reference, complement;
  std::optional<std::string> latitude, longitude;  // numbers of JSON
};

struct AppOrder {
  std::string external_id;
  std::string display_id;  // as the rider and the customer see it
  orders::ServiceType service_type = orders::ServiceType::kDelivery;
  bool is_test = false;
  // By the restaurant's own rider; the app is then told when it leaves.
  bool is_delivered_here = false;
  // Ordered for later: when it is to be there, and when its preparation begins.
  std::optional<UtcMs> scheduled_for, prepare_at;
  std::vector<AppLine> lines;
  Minor delivery_fee = 0, other_fees = 0;
  std::vector<AppDiscount> discounts;
  Minor total = 0;        // what the customer pays, by the app
  Minor paid_online = 0;  // of `total`, through the app
  std::optional<std::string> comment, delivery_comment;
  AppCustomer customer;
};

}  // namespace comanda::delivery
