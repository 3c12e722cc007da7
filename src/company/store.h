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
std::optional<std::string> SelectUuid(db::Session& session, db::CompanyId company);
std::optional<Company> SelectByUuid(db::Session& session, std::string_view id);
std::vector<Company> SelectAll(db::Session& session);  // by name

// What tells one company from another.
struct Named {
  db::CompanyId company_id;
  std::string uuid;
  std::string name;
};
std::vector<Named> SelectNamed(db::Session& session, std::string_view uuid);  // one or none
std::vector<Named> SelectOldest(db::Session& session, size_t limit);

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

}  // namespace comanda::company
