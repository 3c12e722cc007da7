#pragma once

// All SQL of the room.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "company/company.h"
#include "company/tally.h"
#include "db/session.h"

namespace comanda::company {

std::optional<Company> Select(db::Session& session, db::CompanyId company);
std::optional<Company> SelectByUuid(db::Session& session, std::string_view id);
std::vector<Company> SelectAll(db::Session& session);  // by name

// Writes the row where it is new or differs; sets company_id. A new one gets its counters too.
Outcome Upsert(db::Tx& tx, Company& company, const db::Stamp& stamp);

std::optional<PaymentMethod> SelectPaymentMethod(db::Session& session, db::CompanyId company,
                                                 std::string_view id);
std::optional<PaymentMethod> SelectPaymentMethodByCode(db::Session& session, db::CompanyId company,
                                                       std::string_view code);
std::vector<std::string> SelectPaymentMethodCodes(db::Session& session, db::CompanyId company);
Outcome Upsert(db::Tx& tx, db::CompanyId company, const PaymentMethod& method);
int64_t LastPaymentMethod(db::Session& session, db::CompanyId company);  // newest created_seq, or 0

std::optional<Table> SelectTable(db::Session& session, db::CompanyId company, std::string_view id);
Outcome Upsert(db::Tx& tx, db::CompanyId company, const Table& table);

// The next order number of that business day (YYYY-MM-DD); nothing where the last was of another.
std::optional<int64_t> NextOrderNumber(db::Tx& tx, db::CompanyId company,
                                       std::string_view business_day);
void StartOrderNumbers(db::Tx& tx, db::CompanyId company, std::string_view business_day,
                       int64_t first);

}  // namespace comanda::company
