#pragma once

// The face of the room: companies, their payment methods and tables.

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/zone.h"
#include "company/company.h"
#include "db/database.h"

namespace comanda::company {

Company Get(db::Session& session, db::CompanyId company);  // CHECKs that it is there
// The same for every request, read again only after an import or a change of the menu.
std::shared_ptr<const Company> Known(db::Database& database, db::CompanyId company);
std::string UuidOf(db::Session& session, db::CompanyId company);  // Fault where it is gone
std::optional<Company> FindByUuid(db::Session& session, std::string_view id);
std::vector<Company> All(db::Session& session);
// Its time zone. Fault where the system has no data for it any more.
Zone FindZone(db::Session& session, db::CompanyId company);
Zone FindZone(const Company& company);

std::optional<PaymentMethod> FindPaymentMethod(db::Session& session, db::CompanyId company,
                                               std::string_view id);
std::optional<PaymentMethod> FindPaymentMethodByCode(db::Session& session, db::CompanyId company,
                                                     std::string_view code);
// Codes of the active methods, for error messages.
std::vector<std::string> PaymentMethodCodes(db::Session& session, db::CompanyId company);

std::optional<Table> FindTable(db::Session& session, db::CompanyId company, std::string_view id);

// The highest order number given in that time, the end excluded; 0: none.
using LastNumberBetween = std::function<int64_t(UtcMs begin, UtcMs end)>;

// The next short number of the business day of `now` in the company's zone; restarts at 1. Asks for
// the last one where the day is another than that of the order before: a clock that is put right
// comes back to a day that has numbers already.
int64_t TakeOrderNumber(db::Tx& tx, const Company& company, UtcMs now,
                        const LastNumberBetween& last_between);

// Forgets payment methods and tables of a company: for the sandbox alone.
void EraseAll(db::Tx& tx, db::CompanyId company);

}  // namespace comanda::company
