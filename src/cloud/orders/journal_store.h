#pragma once

// All SQL of the journal. Functions throw Fault on a database error, kDamaged where a row is not
// what was written.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cloud/orders/journal.h"
#include "db/session.h"

namespace comanda::cloud::store {

// Orders

struct OrderRow {
  std::string order_id;
  int64_t planned_version = 0;  // of the order, when it was last compared with its mirror
  Mirror mirror;
  int64_t waiting = 0;  // requests that are still to be accepted; 0: nothing differs
  bool is_open = true;
  UtcMs touched_at = 0;

  bool operator==(const OrderRow&) const = default;
};

std::optional<OrderRow> FindOrder(db::Session& session, db::CompanyId company,
                                  std::string_view order_id);
// Inserts the row, or replaces that of the same order. Whether it is parked stays.
void PutOrder(db::Tx& tx, db::CompanyId company, const OrderRow& row);
// The ids of the orders to be served next, at most `limit`: those that were touched first among
// those that have something to send and are not parked.
std::vector<std::string> NextOrders(db::Session& session, db::CompanyId company, Among among,
                                    UtcMs now, int64_t limit);
// The ids of all that have something to send, and of those that are parked.
std::vector<std::string> WaitingOrders(db::Session& session, db::CompanyId company);
// Whether it has something to send and is not parked.
bool IsWaiting(db::Session& session, db::CompanyId company, std::string_view order_id);
// How many steps of it wait; 0 where it is parked.
int64_t StepsWaiting(db::Session& session, db::CompanyId company, std::string_view order_id);
// Ids of orders that are open locally, at most `limit`.
std::vector<std::string> OpenOrders(db::Session& session, db::CompanyId company, int64_t limit);
bool HasOrder(db::Session& session, db::CompanyId company, std::string_view order_id);
Counts Count(db::Session& session, db::CompanyId company);

// Parked orders

// Nothing of the order is sent from now on. `problem`: the problem document, or empty. False where
// it is not in the journal, or parked for that reason already.
bool Park(db::Tx& tx, db::CompanyId company, std::string_view order_id, std::string_view why,
          std::string_view problem);
// Parks it as kParkedUnanswered, with a problem document that says `trouble`.
bool ParkUnanswered(db::Tx& tx, db::CompanyId company, std::string_view order_id,
                    std::string_view trouble);
// Sends it again. False where it is not parked.
bool Unpark(db::Tx& tx, db::CompanyId company, std::string_view order_id);
// All but those that are kCancelledButPaid, which end when their payments are cancelled.
int64_t UnparkAll(db::Tx& tx, db::CompanyId company);
// Empty: it is not parked.
std::string WhyParked(db::Session& session, db::CompanyId company, std::string_view order_id);
// In the order of their ids, at most `limit`.
std::vector<Parked> ListParked(db::Session& session, db::CompanyId company, int64_t limit);

// Requests

void InsertStep(db::Tx& tx, db::CompanyId company, std::string_view order_id, const Step& step);
// The first request of the order that waits for its answer.
std::optional<Waiting> FirstStep(db::Session& session, db::CompanyId company,
                                 std::string_view order_id);
// Whether it still does.
bool HasStep(db::Session& session, db::CompanyId company, const Waiting& waiting);
void CountAttempt(db::Tx& tx, db::CompanyId company, const Waiting& waiting, UtcMs now);
// Puts another request in the place of one that the cloud has refused.
void ReplaceStep(db::Tx& tx, db::CompanyId company, const Waiting& waiting, const Step& step);
// Nothing where the request waits no more.
void DeleteStep(db::Tx& tx, db::CompanyId company, const Waiting& waiting);
void DeleteSteps(db::Tx& tx, db::CompanyId company, std::string_view order_id);

// Differences

void InsertDifference(db::Tx& tx, db::CompanyId company, const Difference& difference, UtcMs at);
// Nothing where the same one is there already.
void NoteDifference(db::Tx& tx, db::CompanyId company, const Difference& difference, UtcMs at);
// Writes the difference in the place of another of that order and kind; writes nothing where it is
// there already. True if it was written.
bool PutDifference(db::Tx& tx, db::CompanyId company, const Difference& difference, UtcMs at);
// The kinds of those of the order.
std::set<DifferenceKind> KindsOfDifferences(db::Session& session, db::CompanyId company,
                                            std::string_view order_id);
void RemoveDifference(db::Tx& tx, db::CompanyId company, std::string_view order_id,
                      DifferenceKind kind);
// The record of an order that cannot be read, by its id in the cloud; `box`: that here, or empty.
void PutUnreadable(db::Tx& tx, db::CompanyId company, const std::string& cloud_id,
                   const std::string& box, const std::string& why, UtcMs at);
void RemoveUnreadable(db::Tx& tx, db::CompanyId company, std::string_view cloud_id);
// Counts one more order that has another business day in the cloud: one difference for each pair of
// days, of no order.
void CountDate(db::Tx& tx, db::CompanyId company, std::string_view day_here,
               std::string_view day_there, UtcMs at);
// The newest first, at most `limit`.
std::vector<Difference> ListDifferences(db::Session& session, db::CompanyId company, int64_t limit);

}  // namespace comanda::cloud::store
