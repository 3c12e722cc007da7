#pragma once

// Whether orders are what was written (checksum.h), part by part, and what can be mended: the
// stored record of an order is made again from the order's rows. For the background check and for
// `comanda verify` (app/verification.h).

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/clock.h"
#include "db/session.h"

namespace comanda::orders {

// An order's place among those of the company, by the time of creation. The first position of a
// check is behind the newest order.
struct OrderKey {
  UtcMs created_at = std::numeric_limits<int64_t>::max();
  std::string id;
};

struct OrdersPart {
  OrderKey position;
  int64_t orders = 0;
  bool at_end = false;
  std::vector<std::string> damage;            // each names its order and says what is wrong
  std::vector<std::string> damaged_records;   // ids of orders whose rows are sound
  std::vector<std::string> without_checksum;  // ids; of older programs
};
// At most `limit` orders older than the position, the newest first: their rows, the facet that
// counts them, their stored records.
OrdersPart CheckOrders(db::Session& session, db::CompanyId company, const OrderKey& position,
                       int64_t limit);
// Whether the orders are as many as their facets count. Reads an index of all orders.
std::vector<std::string> CheckCounts(db::Session& session, db::CompanyId company);
// As the facets count them.
int64_t CountAll(db::Session& session, db::CompanyId company);

// What CheckOrders says of a stored record that is damaged.
std::string DamagedRecord(const std::string& id);

// Makes the stored record again where it is damaged and the order's rows are sound; false where
// there was nothing to do. Fault kDamaged where the rows are not sound either.
bool RemakeRecord(db::Tx& tx, db::CompanyId company, const std::string& id);

// Gives the order a checksum where it has none; of an older program.
void GiveChecksum(db::Tx& tx, db::CompanyId company, const std::string& id);

}  // namespace comanda::orders
