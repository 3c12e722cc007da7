#pragma once

// Checks that the orders of a company are as they were written (orders/checksum.h), a bounded
// number at a time, and repairs what can be repaired: a damaged stored record is rendered again
// from the order's rows. For the background check and `comanda verify` (integrity/verification.h).

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "db/session.h"

namespace comanda::orders {

// The position of a check: the next part has the orders before this one, in the order of creation.
// The default is after the newest order.
struct OrderKey {
  UtcMs created_at = std::numeric_limits<int64_t>::max();
  std::string id;
};

struct OrdersPart {
  OrderKey position;
  int64_t orders = 0;
  bool at_end = false;
  bool has_damaged_rows = false;              // of an order: they are not what was written
  std::vector<std::string> damage;            // messages that name the order
  std::vector<std::string> damaged_records;   // ids of orders whose rows are undamaged
  std::vector<std::string> without_checksum;  // ids of orders that older programs have written
};
// Checks at most `limit` orders before the position, the newest first: their rows, their facet
// (orders/store.h), their stored record.
OrdersPart CheckOrders(db::Session& session, db::CompanyId company, const OrderKey& position,
                       int64_t limit);

// Checks the counts of the facets. Reads an index of all orders. Returns messages.
std::vector<std::string> CheckCounts(db::Session& session, db::CompanyId company);
// The number of orders of the company, as the facets count them.
int64_t CountAll(db::Session& session, db::CompanyId company);

// The newest order of the company. Nothing where there is none, or it is damaged.
struct Newest {
  std::string public_id;
  UtcMs created_at = 0;
};
std::optional<Newest> FindNewest(db::Session& session, db::CompanyId company);

// The amounts of an order, in minor units.
struct OrderSum {
  OrderKey key;
  int64_t created_seq = 0;
  int64_t version = 0;
  int64_t total = 0;
  int64_t total_paid = 0;
};
// Those of at most `limit` orders before the position, the newest first.
std::vector<OrderSum> SumsBefore(db::Session& session, db::CompanyId company,
                                 const OrderKey& position, int64_t limit);

// The message of CheckOrders for a damaged stored record.
std::string DamagedRecord(const std::string& id);

// Renders a damaged stored record again; false if it is not damaged. Fault kDamaged if the order's
// rows are damaged too.
bool RemakeRecord(db::Tx& tx, db::CompanyId company, const std::string& id);

// Writes the checksum of an order that has none.
void GiveChecksum(db::Tx& tx, db::CompanyId company, const std::string& id);

}  // namespace comanda::orders
