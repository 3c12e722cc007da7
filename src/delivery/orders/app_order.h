#pragma once

// An order as a delivery app has it, in one form for all apps. Plain values. Money is in minor
// units of the company's currency, quantities are in thousandths.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "base/money.h"
#include "orders/order.h"

namespace comanda::delivery {

// `price` is that of the whole line, options excluded.
struct AppOption {
  std::string name;                          // an option of an option is "Option: Choice"
  std::optional<std::string> group_name;     // of the question that it answers: "Cutlery?"
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

  void AddComment(const std::string& text) { comment = comment ? *comment + "\n" + text : text; }
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

// What the rider collects at the door.
struct AppCharge {
  enum class Means : uint8_t { kOther, kCash, kCard } means = Means::kOther;
  Minor amount = 0;
  std::string word = {};                 // the app's own for the means: "DEBIT VISA"
  std::optional<Minor> change_for = {};  // the customer pays with that much
};

struct AppOrder {
  std::string external_id;
  std::string display_id;  // as the rider and the customer see it
  orders::ServiceType service_type = orders::ServiceType::kDelivery;
  bool is_test = false;
  // By the restaurant's own rider; the app is then notified when it leaves.
  bool is_delivered_here = false;
  // Ordered for later: when it is to be there, and when its preparation begins.
  std::optional<UtcMs> scheduled_for, prepare_at;
  // The former in the restaurant's own time, "2027-11-25 20:30:00", where the app names no zone;
  // and how long the preparation takes.
  std::string scheduled_local;
  int64_t preparation_minutes = 0;
  std::vector<AppLine> lines;
  Minor delivery_fee = 0, other_fees = 0;
  std::vector<AppDiscount> discounts;
  Minor total = 0;                 // what the customer pays, by the app
  Minor paid_online = 0;           // of `total`, through the app
  std::vector<AppCharge> charges;  // of what is not paid online
  std::optional<std::string> comment, delivery_comment;
  std::optional<std::string> place, table;  // where it is eaten
  std::optional<std::string> pickup_code;   // that the rider says
  std::vector<std::string> unread;          // members that could not be read and are left out
  AppCustomer customer;
};

}  // namespace comanda::delivery
