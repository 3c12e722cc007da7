#pragma once

// All SQL of this room. Functions throw Fault on a database error.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "company/company.h"
#include "company/import_counts.h"
#include "db/session.h"

namespace comanda::company {

// The company with that number; nothing if it does not exist.
std::optional<Company> Select(db::Session& session, db::CompanyId company);
// Its UUID; nothing if it does not exist.
std::optional<std::string> SelectUuid(db::Session& session, db::CompanyId company);
std::optional<Company> SelectByUuid(db::Session& session, std::string_view id);
// Sorted by name.
std::vector<Company> SelectAll(db::Session& session);

// The columns by which a person tells companies apart.
struct Named {
  db::CompanyId company_id;
  std::string uuid;
  std::string name;
};
// The company with that UUID, or none.
std::vector<Named> SelectNamed(db::Session& session, std::string_view uuid);
// The companies created first, at most `limit`.
std::vector<Named> SelectOldest(db::Session& session, size_t limit);

// What a company stores of its time zone.
struct StoredZone {
  db::CompanyId company_id;
  std::string name;  // the company's
  std::string timezone;
  std::optional<int> utc_offset_s;
  bool has_data = true;
  bool operator==(const StoredZone&) const = default;
};
std::vector<StoredZone> SelectZones(db::Session& session);
// Without what databases of schema 15 and before do not have; sorted by name.
std::vector<StoredZone> SelectZoneNames(db::Session& session);
// Updates the row unless its zone is no longer `former`; `is_renamed` sets updated_at too. Returns
// the number of rows.
int64_t UpdateZone(db::Tx& tx, std::string_view former, const StoredZone& zone, bool is_renamed,
                   const db::Stamp& stamp);

// Inserts the row if it is new, updates it if it differs, and sets company.company_id. A new
// company also gets its row of counters.
UpsertResult Upsert(db::Tx& tx, Company& company, const db::Stamp& stamp);

// Inactive methods too, unless said otherwise.
std::optional<PaymentMethod> SelectPaymentMethod(db::Session& session, db::CompanyId company,
                                                 std::string_view id);
std::optional<PaymentMethod> SelectPaymentMethodByCode(db::Session& session, db::CompanyId company,
                                                       std::string_view code);
// The start of a list of the active payment methods `m`, and the rows that it selects.
db::ClauseBuilder PaymentMethodsOf(db::CompanyId company);
std::vector<PaymentMethod> SelectPaymentMethods(db::Session& session, const db::ClauseBuilder& sql);
// Of active methods, sorted.
std::vector<std::string> SelectPaymentMethodCodes(db::Session& session, db::CompanyId company);
UpsertResult Upsert(db::Tx& tx, db::CompanyId company, const PaymentMethod& method);
// The largest created_seq, or 0.
int64_t LastPaymentMethod(db::Session& session, db::CompanyId company);

// The start of a list of the tables `t`, and the rows that it selects.
db::ClauseBuilder TablesOf(db::CompanyId company);
std::vector<Table> SelectTables(db::Session& session, const db::ClauseBuilder& sql);
std::optional<Table> SelectTable(db::Session& session, db::CompanyId company, std::string_view id);
UpsertResult Upsert(db::Tx& tx, db::CompanyId company, const Table& table);
// The largest created_seq, or 0.
int64_t LastTable(db::Session& session, db::CompanyId company);

}  // namespace comanda::company
