#pragma once

// All SQL of the journal. Functions throw Fault on a database error, kDamaged where a row is not
// what was written.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
// Whether the order has that planned version and number of waiting steps. Without a row it has 0
// of both.
bool IsPlannedUpTo(db::Session& session, db::CompanyId company, std::string_view order_id,
                   int64_t planned_version, int64_t waiting);
// Inserts the row, or replaces that of the same order. Whether it is parked stays.
void PutOrder(db::Tx& tx, db::CompanyId company, const OrderRow& row);
// The order that was touched first among those with waiting steps that are neither parked nor in
// `without`.
std::optional<std::string> FirstWaiting(db::Session& session, db::CompanyId company,
                                        const OrderIds& without);
// The same of those that are open; else of those that were touched since then.
std::optional<std::string> FirstWaitingSince(db::Session& session, db::CompanyId company,
                                             UtcMs since, const OrderIds& without);
// False where the order is not in the journal, or already so. `why` empty: not parked.
bool SetParked(db::Tx& tx, db::CompanyId company, std::string_view order_id, std::string_view why,
               std::string_view problem);

// Fault kDamaged for a name that is no kind's.
StepKind KindNamed(std::string_view name);
void InsertStep(db::Tx& tx, db::CompanyId company, std::string_view order_id, const Step& step);
// The first step of the order.
std::optional<Waiting> FirstStep(db::Session& session, db::CompanyId company,
                                 std::string_view order_id);
void CountAttempt(db::Tx& tx, db::CompanyId company, std::string_view order_id, int64_t position,
                  UtcMs now);
void UpdateStep(db::Tx& tx, db::CompanyId company, std::string_view order_id, int64_t position,
                std::string_view key, std::string_view body);
// Also lowers the order's number of waiting steps. Nothing where the step waits no more, as after
// DeleteSteps(); the same of UpdateStep().
void DeleteStep(db::Tx& tx, db::CompanyId company, std::string_view order_id, int64_t position);

void InsertDifference(db::Tx& tx, db::CompanyId company, const Difference& difference, UtcMs at);

std::vector<Difference> SelectDifferences(db::Session& session, db::CompanyId company,
                                          int64_t limit);

std::vector<Parked> SelectParked(db::Session& session, db::CompanyId company, int64_t limit);
int64_t UnparkAll(db::Tx& tx, db::CompanyId company);
bool IsParked(db::Session& session, db::CompanyId company, std::string_view order_id);
// Deletes what waits of the order.
void DeleteSteps(db::Tx& tx, db::CompanyId company, std::string_view order_id);

Counts Count(db::Session& session, db::CompanyId company);

}  // namespace comanda::cloud::store
