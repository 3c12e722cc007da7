#pragma once

// How an order is written, new or changed: its record is rendered and checked, the event that
// carries the record is appended, the rows are written, and the former record is dropped where the
// log no longer keeps it. Runs in the caller's transaction.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "company/company.h"
#include "db/session.h"
#include "events/log.h"
#include "orders/order.h"
#include "orders/orders.h"

namespace comanda::orders {

struct Creation {
  // Candidates for the ten digits of the public id; the first free one is used, unless the order
  // has a public id of our form that is free.
  const std::vector<std::string>& public_numbers;
  // The order keeps its number and business day. Else it takes the next number of its business day.
  bool has_number = false;
  std::string_view note = {};
};

// `order` has its prices and everything else but version, updated_at and record_seq. Refusal where
// its record is too large (orders/size.h).
Record WriteNew(db::Tx& tx, const company::Company& company, Order order, const Creation& creation,
                const db::Stamp& stamp);

enum class Rows : uint8_t {
  kThatDiffer,  // as commands change them: Update (orders/store.h)
  kAll,         // as another system shows them: Replace (orders/store.h)
};

struct Change {
  events::Type type = events::Type::kOrderUpdated;
  events::Changes changes = {};
  std::string_view note = {};
  Rows rows = Rows::kThatDiffer;
  // Throws Refusal where the record is too large; without it, the record may have any size.
  std::function<void(const Order& after, std::string_view record)> check = {};
};

// `after` has the prices and all that differs, but version, updated_at and record_seq.
Record WriteChange(db::Tx& tx, const Order& before, Order after, const Change& change,
                   const db::Stamp& stamp);

}  // namespace comanda::orders
