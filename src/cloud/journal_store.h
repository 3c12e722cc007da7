#pragma once

// All SQL of the journal. Functions throw Fault on a database error, kDamaged where a row is not
// what was written.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cloud/image.h"
#include "cloud/journal.h"
#include "cloud/step.h"
#include "db/session.h"

namespace comanda::cloud::store {

struct OrderRow {
  std::string order_id;
  int64_t planned_version = 0;
  Image image;
  int64_t waiting = 0;  // steps
  bool is_open = true;
  UtcMs touched_at = 0;
};

std::optional<OrderRow> FindOrder(db::Session& session, db::CompanyId company,
                                  std::string_view order_id);
// Inserts the row, or replaces that of the same order. Whether it is parked stays.
void PutOrder(db::Tx& tx, db::CompanyId company, const OrderRow& row);
// The order that was touched first among those with waiting steps that are not parked. `since`:
// only those that are open or were touched since then.
std::optional<std::string> FirstWaiting(db::Session& session, db::CompanyId company,
                                        std::optional<UtcMs> since);
// False where the order is not in the journal, or already so. `why` empty: not parked.
bool SetParked(db::Tx& tx, db::CompanyId company, std::string_view order_id, std::string_view why,
               std::string_view problem);

void InsertStep(db::Tx& tx, db::CompanyId company, std::string_view order_id, const Step& step);
// The first step of the order.
std::optional<Waiting> FirstStep(db::Session& session, db::CompanyId company,
                                 std::string_view order_id);
void CountAttempt(db::Tx& tx, db::CompanyId company, std::string_view order_id, int64_t position,
                  UtcMs now);
// Also lowers the order's number of waiting steps.
void DeleteStep(db::Tx& tx, db::CompanyId company, std::string_view order_id, int64_t position);

struct Difference {
  std::string order_id;  // empty: not of an order
  std::string kind;
  std::string box, cloud;  // what each side has
  std::string detail;
};
void InsertDifference(db::Tx& tx, db::CompanyId company, const Difference& difference, UtcMs at);

Counts Count(db::Session& session, db::CompanyId company);

}  // namespace comanda::cloud::store
