#pragma once

// Orders made elsewhere: in a delivery app (contract section 7) or in the cloud (contract section
// 15, Down and Authority). The other system shows an order with all its rows; Ingest() places it,
// or brings the one that is stored up to date. Every function runs in the caller's transaction.
//
// A delivery app hands an order over: from then on its figures are this box's, as are those of an
// order of the API. The cloud keeps its orders: they are stored with its figures, and each record
// that it shows later changes them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "company/company.h"
#include "db/session.h"
#include "orders/order.h"
#include "orders/orders.h"

namespace comanda::orders {

// What of an order the other system shows. What it does not show is unknown, not absent.
struct Shown {
  bool combos = true, payments = true, discounts = true;
  bool rider = true;            // null, too: no rider
  bool delivery_status = true;  // null, too: none
  bool total = true;            // shown, or computed from rows that are shown
  bool total_paid = true;       // the same
};

// Who computes prices, totals and the order number, and takes the stock.
enum class Figures : uint8_t { kOurs, kTheirs };

struct ExternalOrder {
  // The caller fills id, source, service type, references with their snapshots, texts, prices, rows
  // with their ids, and `origin`: kBox for an order that belongs to this box.
  // - kOurs: external_id, unique within the source; combos with line totals (orders/pricing.h) and
  //   their links to the menu, if any; the status, without its history.
  // - kTheirs: everything that the record shows, but version and updated_at. The id is a UUID: that
  //   of the other system, or one derived from it. References are ids of this box where it has
  //   those rows. A time of 0 is not known: rows have that of the order, the order has now.
  Order order;
  Shown shows = {};
  Figures figures = Figures::kOurs;
  std::string actor;  // orders/permission.h
  // Candidates for the ten digits of the public id (Placement::public_numbers), used where
  // order.public_id is none of our form or another order has it.
  std::vector<std::string> public_numbers = {};
};

// An order without rows, in the terms of the company: its country, zone and currency.
Order BlankOrder(const company::Company& company);

// Places the order with one ORDER_CREATED event, or brings the stored one up to date with one
// ORDER_UPDATED; the current record and no event where nothing differs.
// - kOurs: takes the stock of its lines. An order that was placed before is not changed.
// - kTheirs: what is not shown stays as it is stored; names and kitchens of items are those of the
//   menu here. A status that is later here stays: the status of an order never goes back, and
//   CANCELLED is the last. No stock is taken: the other system has counted it. The stored order
//   must have the same origin (CHECK).
// Refusal where a cap (orders/order.h), the size of the record (orders/size.h) or the bound of a
// sum is exceeded; an order of kTheirs has written nothing then.
Record Ingest(db::Tx& tx, const company::Company& company, ExternalOrder external,
              const db::Stamp& stamp);

// The other system has this order of its own no more: one ORDER_DELETED. The order stays readable.
// The current record and no event the second time. Nothing where there is no such order.
std::optional<Record> MarkGone(db::Tx& tx, db::CompanyId company, std::string_view id,
                               const db::Stamp& stamp);

}  // namespace comanda::orders
