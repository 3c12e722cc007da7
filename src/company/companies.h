#pragma once

// Companies, their payment methods and their tables: the interface of this room.
//
// A company is one restaurant, and the tenant to which all other records belong. Functions with a
// Session or Tx run in the caller's transaction, and throw Fault on a database error.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/zone.h"
#include "company/company.h"
#include "db/database.h"

namespace comanda::events {
class HeldCounters;
}

namespace comanda::company {

// Throws Fault(kDamaged) if the company does not exist: companies are never deleted.
Company Get(db::Session& session, db::CompanyId company);
// Like Get(), from a cache shared by all requests, which an import or a change of the menu
// invalidates. Any thread.
std::shared_ptr<const Company> GetCached(db::Database& database, db::CompanyId company);
// The company's UUID. Throws Fault(kDamaged) if it does not exist.
std::string UuidOf(db::Session& session, db::CompanyId company);
// Nothing for an unknown id.
std::optional<Company> FindByUuid(db::Session& session, std::string_view id);
// Sorted by name.
std::vector<Company> All(db::Session& session);
// The company's time zone. Where the system has no data for it, one that is always at the offset
// last known (company/zones.h).
Zone FindZone(const Company& company);

// Inactive methods and tables are found too; the caller decides whether they may be used.
std::optional<PaymentMethod> FindPaymentMethod(db::Session& session, db::CompanyId company,
                                               std::string_view id);
std::optional<PaymentMethod> FindPaymentMethodByCode(db::Session& session, db::CompanyId company,
                                                     std::string_view code);
// Makes the method unless there is one with its code: of a channel, such as a delivery app. Without
// service types no till may choose it.
void EnsurePaymentMethod(db::Tx& tx, db::CompanyId company, const PaymentMethod& method);
// The codes of the active methods that a till may choose, for error messages.
std::vector<std::string> PaymentMethodCodes(db::Session& session, db::CompanyId company);

std::optional<Table> FindTable(db::Session& session, db::CompanyId company, std::string_view id);

// Days that begin at the company's day_starts_at.
Days BusinessDays(const Company& company);

// Returns the highest order number assigned in [begin, end), or 0. The room orders/ supplies it.
using LastNumberBetween = std::function<int64_t(UtcMs begin, UtcMs end)>;

struct OrderNumber {
  int64_t number = 0;
  std::string business_day;  // YYYY-MM-DD
};
// Assigns the next order number of the business day that contains `now` in the company's zone.
// Numbers restart at 1 each business day (contract section 7). On the first order of a day
// `last_between` is asked: after a correction of the clock the day may have numbers already.
OrderNumber TakeOrderNumber(events::HeldCounters& counters, const Company& company, UtcMs now,
                            const LastNumberBetween& last_between);

// Deletes the payment methods and tables of a company. For resetting the sandbox only.
void EraseAll(db::Tx& tx, db::CompanyId company);

}  // namespace comanda::company
