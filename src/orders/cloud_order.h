#pragma once

// Orders that the cloud made (contract section 15, Down and Authority): they are stored with the
// cloud's figures, nothing of them is computed here. Every function runs in the caller's
// transaction.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "company/company.h"
#include "db/session.h"
#include "orders/order.h"
#include "orders/orders.h"

namespace comanda::orders {

// An order as the cloud shows it.
struct CloudOrder {
  // The caller fills everything that the record shows, except company, version, updated_at and
  // order.origin, which are set here. order.id is a UUID: the cloud's id, or one derived from it.
  // References are ids of this box where it has those rows.
  Order order;
  // Candidates for the ten digits of the public id (Placement::public_numbers), used where
  // order.public_id is none of our form or another order has it.
  std::vector<std::string> public_numbers;
  // This box made it and lost it with its database: it is written as one of the box, until that
  // changes it.
  bool was_made_here = false;
};

// Writes an order of the cloud, or brings the stored one up to date: one event, actor "cloud"; the
// current record and no event where nothing of it differs. A status that is later here stays: the
// status of an order never goes back, and CANCELLED is the last. No stock is taken: the cloud has
// counted it. The order must not be one that was made here (CHECK). Refusal where its record is too
// large (orders/size.h).
Record TakeOver(db::Tx& tx, const company::Company& company, CloudOrder cloud,
                const db::Stamp& stamp);

// The cloud has this order of its own no more: one ORDER_DELETED. The order stays readable. The
// current record and no event the second time. Nothing where there is no such order.
std::optional<Record> MarkGone(db::Tx& tx, db::CompanyId company, std::string_view id,
                               const db::Stamp& stamp);

}  // namespace comanda::orders
