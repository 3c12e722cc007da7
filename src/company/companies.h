#pragma once

// The face of the room: companies, their payment methods and tables.

#include <optional>
#include <string_view>
#include <vector>

#include "base/zone.h"
#include "company/company.h"
#include "db/session.h"

namespace comanda::company {

Company Get(db::Session& session, db::CompanyId company);  // CHECKs that it is there
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

// The next short number of the business day of `now` in the company's zone; restarts at 1.
int64_t TakeOrderNumber(db::Tx& tx, const Company& company, UtcMs now);

// Forgets payment methods and tables of a company: for the sandbox alone.
void EraseAll(db::Tx& tx, db::CompanyId company);

}  // namespace comanda::company
