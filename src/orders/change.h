#pragma once

// The end of every change of a stored order: its version rises, its record is rendered, the event
// that carries the record is appended, the rows are written, and the former record is dropped where
// the log no longer keeps it. Runs in the caller's transaction.

#include <functional>
#include <string_view>

#include "db/session.h"
#include "events/log.h"
#include "orders/order.h"
#include "orders/orders.h"

namespace comanda::orders {

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

// The event of an order. Its body becomes the stored record.
events::Event EventOf(const Order& order, events::Type type, events::Changes changes,
                      std::string_view record, std::string_view note = {});

}  // namespace comanda::orders
