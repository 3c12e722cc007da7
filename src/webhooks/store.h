#pragma once

// All SQL of this room. Functions throw Fault on a database error.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/clause_builder.h"
#include "db/session.h"
#include "webhooks/delivery.h"
#include "webhooks/subscription.h"

namespace comanda::webhooks::store {

std::vector<db::CompanyId> Companies(db::Session& session);  // that have a subscription
// A damaged one is not among them; what is wrong is added to `damage`.
std::vector<Subscription> All(db::Session& session, db::CompanyId company,
                              std::vector<std::string>& damage);
// The start of a list of the subscriptions `w`, and the rows that it selects, as All().
db::ClauseBuilder SubscriptionsOf(db::CompanyId company);
std::vector<Subscription> SelectPage(db::Session& session, const db::ClauseBuilder& sql,
                                     std::vector<std::string>& damage);
// Fault kDamaged where the row is not what was written.
std::optional<Subscription> Find(db::Session& session, db::CompanyId company, std::string_view id);
// Also where it is damaged, so that it can be removed.
std::optional<Subscription> FindAsItIs(db::Session& session, db::CompanyId company,
                                       std::string_view id);
// Damaged ones included: they count towards the limit until they are removed.
int64_t Count(db::Session& session, db::CompanyId company);
int64_t LastCreated(db::Session& session, db::CompanyId company);  // for snapshots of the list

// The id must be new.
void Insert(db::Tx& tx, db::CompanyId company, const Subscription& subscription);
// Stores all but the progress, and the revision given.
void UpdateSettings(db::Tx& tx, db::CompanyId company, const Subscription& subscription);
// Stores the progress and the selection. The row must have that revision.
void UpdateProgress(db::Tx& tx, db::CompanyId company, const Subscription& subscription);
// With its deliveries.
void Delete(db::Tx& tx, db::CompanyId company, std::string_view id);
void DeleteAll(db::Tx& tx, db::CompanyId company);

// Deliveries

// Inserts the row, or replaces that of the same id.
void Put(db::Tx& tx, db::CompanyId company, std::string_view webhook_id, const Delivery& delivery);
// Fault kDamaged where the row is not what was written. With the event's seq the row is found at
// once, else among all of the subscription.
std::optional<Delivery> FindDelivery(db::Session& session, db::CompanyId company,
                                     std::string_view webhook_id, int64_t seq, std::string_view id);
std::optional<Delivery> FindDelivery(db::Session& session, db::CompanyId company,
                                     std::string_view webhook_id, std::string_view id);
// The start of a list of the deliveries `d`. A damaged one that it selects is left out; what is
// wrong is added to `damage`.
db::ClauseBuilder DeliveriesOf(db::CompanyId company, std::string_view webhook_id);
void EachDelivery(db::Session& session, const db::ClauseBuilder& sql,
                  std::vector<std::string>& damage,
                  const std::function<void(const Delivery&)>& use);
// Those that are late or wait behind one that is, by event. A damaged one is not among them, nor
// among the dead; what is wrong is added to `damage`.
std::vector<Delivery> Unsettled(db::Session& session, db::CompanyId company,
                                std::string_view webhook_id, std::vector<std::string>& damage);
std::vector<Delivery> Unsettled(db::Session& session, db::CompanyId company,
                                std::string_view webhook_id);
std::vector<Delivery> Dead(db::Session& session, db::CompanyId company,
                           std::string_view webhook_id);
// Adds what is wrong with any row, of every company.
void CheckDeliveries(db::Session& session, std::vector<std::string>& damage);
// The rows of a subscription.
struct Rows {
  int64_t unsettled = 0;           // late, or waiting behind one that is
  std::optional<UtcMs> oldest_at;  // the time of the first unsettled one's event
  int64_t ahead = 0;               // of events after the stored position, whatever became of them
};
// Of each subscription, in the same order, up to the event `last`.
std::vector<Rows> CountRows(db::Session& session, db::CompanyId company,
                            std::span<const Subscription> subscriptions, int64_t last);
// The highest `sequence` among the rows; 0: none has one.
int64_t LastNumber(db::Session& session, db::CompanyId company, std::string_view webhook_id);
// Deletes settled rows beyond the newest `kept`, and those that were settled before that time.
void Trim(db::Tx& tx, db::CompanyId company, std::string_view webhook_id, int64_t kept,
          UtcMs settled_before);

}  // namespace comanda::webhooks::store
