#include "company/store.h"

#include <utility>

#include "base/id.h"
#include "base/money.h"
#include "base/problem.h"
#include "base/text.h"
#include "company/companies.h"
#include "events/counters.h"

namespace comanda::company {
namespace {

std::optional<int> OffsetOf(const auto& row) {
  constexpr int64_t kMost = 24 * 60 * 60;
  const std::optional<int64_t> offset = row.OptionalInt("utc_offset_s");
  if (!offset || *offset < -kMost || *offset > kMost) return std::nullopt;
  return static_cast<int>(*offset);
}

Company ReadCompany(const auto& row) {
  Company company;
  company.company_id = row.Company("company_id");
  company.id = row.Text("id");
  company.name = row.Text("name");
  company.description = row.OptionalText("description");
  company.logo = row.OptionalText("logo");
  company.public_url = row.OptionalText("public_url");
  company.phone = row.OptionalText("phone");
  company.address = row.OptionalText("address");
  company.area = row.OptionalText("area");
  company.city = row.OptionalText("city");
  company.state = row.OptionalText("state");
  company.country_code = row.Text("country_code");
  company.postal_code = row.OptionalText("postal_code");
  company.latitude = row.OptionalText("latitude");
  company.longitude = row.OptionalText("longitude");
  company.timezone = row.Text("timezone");
  company.business_hours = row.Text("business_hours");
  company.language = row.OptionalText("language");
  company.currency = row.Text("currency");
  company.day_starts_at = static_cast<int>(row.Int("day_starts_at"));
  company.utc_offset_s = OffsetOf(row);
  company.created_at = row.Int("created_at");
  company.updated_at = row.Int("updated_at");
  const std::optional<int> decimals = CurrencyDecimals(company.currency);
  constexpr int kDayMinutes = 24 * 60;
  if (!decimals || !ParseId(company.id) || company.day_starts_at < 0 ||
      company.day_starts_at >= kDayMinutes) {
    throw Fault(Fault::Kind::kDamaged, "company " + std::to_string(company.company_id.value) +
                                           " has an id, a currency or a start of its day that "
                                           "nobody wrote");
  }
  company.currency_decimals = *decimals;
  return company;
}

std::vector<Named> ReadNamed(auto rows) {
  std::vector<Named> found;
  while (rows.Next()) {
    found.push_back({.company_id = rows.Company("company_id"),
                     .uuid = rows.Text("id"),
                     .name = rows.Text("name")});
  }
  return found;
}

PaymentMethod ReadPaymentMethod(const auto& row) {
  PaymentMethod method;
  method.id = row.Text("id");
  method.code = row.Text("code");
  method.description = row.Text("description");
  method.service_types = static_cast<uint32_t>(row.Int("service_types"));
  method.active = row.Bool("active");
  return method;
}

Table ReadTable(const auto& row) {
  Table table;
  table.id = row.Text("id");
  table.name = row.Text("name");
  table.area = row.OptionalText("area");
  table.active = row.Bool("active");
  return table;
}

constexpr db::Sql kPaymentMethods = R"sql(
    SELECT m.id, m.code, m.description, m.service_types, m.active
    FROM payment_method m WHERE m.company_id = $1 AND m.active = 1 AND m.service_types <> 0
    )sql";
constexpr db::Sql kTables = R"sql(
    SELECT t.id, t.name, t.area, t.active FROM dining_table t WHERE t.company_id = $1
    )sql";

}  // namespace

std::optional<Company> Select(db::Session& session, db::CompanyId company) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT company_id, id, name, description, logo, public_url, phone, address, area, city,
        state, country_code, postal_code, latitude, longitude, timezone, business_hours, language,
        currency, day_starts_at, utc_offset_s, created_at, updated_at
      FROM company WHERE company_id = $1
      )sql";
  const auto row = session.One<kSelect>(company);
  if (!row) return std::nullopt;
  return ReadCompany(*row);
}

std::optional<std::string> SelectUuid(db::Session& session, db::CompanyId company) {
  return session.FindText(R"sql(SELECT id FROM company WHERE company_id = $1)sql", company);
}

std::optional<Company> SelectByUuid(db::Session& session, std::string_view id) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT company_id, id, name, description, logo, public_url, phone, address, area, city,
        state, country_code, postal_code, latitude, longitude, timezone, business_hours, language,
        currency, day_starts_at, utc_offset_s, created_at, updated_at
      FROM company WHERE id = $1
      )sql";
  const auto row = session.One<kSelect>(id);
  if (!row) return std::nullopt;
  return ReadCompany(*row);
}

std::vector<Company> SelectAll(db::Session& session) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT company_id, id, name, description, logo, public_url, phone, address, area, city,
        state, country_code, postal_code, latitude, longitude, timezone, business_hours, language,
        currency, day_starts_at, utc_offset_s, created_at, updated_at
      FROM company ORDER BY name, company_id
      )sql";
  auto rows = session.Query<kSelect>();
  std::vector<Company> companies;
  while (rows.Next()) companies.push_back(ReadCompany(rows));
  return companies;
}

std::vector<Named> SelectNamed(db::Session& session, std::string_view uuid) {
  static constexpr db::Sql kSelect =
      R"sql(SELECT company_id, id, name FROM company WHERE id = $1)sql";
  return ReadNamed(session.Query<kSelect>(uuid));
}

std::vector<Named> SelectOldest(db::Session& session, size_t limit) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT company_id, id, name FROM company ORDER BY company_id LIMIT $1
      )sql";
  return ReadNamed(session.Query<kSelect>(static_cast<int64_t>(limit)));
}

std::vector<StoredZone> SelectZones(db::Session& session) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT company_id, name, timezone, utc_offset_s, zone_has_data
      FROM company ORDER BY name, company_id
      )sql";
  auto rows = session.Query<kSelect>();
  std::vector<StoredZone> zones;
  while (rows.Next()) {
    zones.push_back({.company_id = rows.Company("company_id"),
                     .name = rows.Text("name"),
                     .timezone = rows.Text("timezone"),
                     .utc_offset_s = OffsetOf(rows),
                     .has_data = rows.Bool("zone_has_data")});
  }
  return zones;
}

std::vector<StoredZone> SelectZoneNames(db::Session& session) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT company_id, name, timezone FROM company ORDER BY name, company_id
      )sql";
  auto rows = session.Query<kSelect>();
  std::vector<StoredZone> zones;
  while (rows.Next()) {
    zones.push_back({.company_id = rows.Company("company_id"),
                     .name = rows.Text("name"),
                     .timezone = rows.Text("timezone"),
                     .utc_offset_s = std::nullopt});
  }
  return zones;
}

int64_t UpdateZone(db::Tx& tx, std::string_view former, const StoredZone& zone, bool is_renamed,
                   const db::Stamp& stamp) {
  return tx.RunCounted(R"sql(
      UPDATE company SET timezone = $3, utc_offset_s = $4, zone_has_data = $5,
        updated_at = CASE WHEN $6 = 1 THEN $7 ELSE updated_at END
      WHERE company_id = $1 AND timezone = $2
      )sql",
                       zone.company_id, former, zone.timezone, zone.utc_offset_s, zone.has_data,
                       is_renamed, stamp.now);
}

UpsertResult Upsert(db::Tx& tx, Company& company, const db::Stamp& stamp) {
  const std::optional<Company> known = SelectByUuid(tx, company.id);
  company.company_id = known ? known->company_id : db::CompanyId{tx.GetInt(R"sql(
      SELECT coalesce(max(company_id), 0) + 1 FROM company
      )sql")};
  const int64_t written = tx.RunCounted(
      R"sql(
      INSERT INTO company (company_id, id, name, description, logo, public_url, phone, address,
        area, city, state, country_code, postal_code, latitude, longitude, timezone,
        business_hours, language, currency, day_starts_at, created_at, updated_at, utc_offset_s)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
        $19, $20, $21, $21, $22)
      ON CONFLICT (company_id) DO UPDATE SET name = excluded.name,
        description = excluded.description, logo = excluded.logo,
        public_url = excluded.public_url, phone = excluded.phone, address = excluded.address,
        area = excluded.area, city = excluded.city, state = excluded.state,
        country_code = excluded.country_code, postal_code = excluded.postal_code,
        latitude = excluded.latitude, longitude = excluded.longitude,
        timezone = excluded.timezone, business_hours = excluded.business_hours,
        language = excluded.language, currency = excluded.currency,
        day_starts_at = excluded.day_starts_at, updated_at = excluded.updated_at,
        utc_offset_s = excluded.utc_offset_s
      WHERE (company.name, company.description, company.logo, company.public_url, company.phone,
        company.address, company.area, company.city, company.state, company.country_code,
        company.postal_code, company.latitude, company.longitude, company.timezone,
        company.business_hours, company.language, company.currency, company.day_starts_at)
        IS DISTINCT FROM (excluded.name, excluded.description, excluded.logo, excluded.public_url,
        excluded.phone, excluded.address, excluded.area, excluded.city, excluded.state,
        excluded.country_code, excluded.postal_code, excluded.latitude, excluded.longitude,
        excluded.timezone, excluded.business_hours, excluded.language, excluded.currency,
        excluded.day_starts_at)
      )sql",
      company.company_id, company.id, company.name, company.description, company.logo,
      company.public_url, company.phone, company.address, company.area, company.city, company.state,
      company.country_code, company.postal_code, company.latitude, company.longitude,
      company.timezone, company.business_hours, company.language, company.currency,
      company.day_starts_at, stamp.now, company.utc_offset_s);
  events::BeginCounters(tx, company.company_id);
  return ResultOf(known.has_value(), written);
}

std::optional<PaymentMethod> SelectPaymentMethod(db::Session& session, db::CompanyId company,
                                                 std::string_view id) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT id, code, description, service_types, active
      FROM payment_method WHERE company_id = $1 AND id = $2
      )sql";
  const auto row = session.One<kSelect>(company, id);
  if (!row) return std::nullopt;
  return ReadPaymentMethod(*row);
}

db::ClauseBuilder PaymentMethodsOf(db::CompanyId company) { return {kPaymentMethods, {company}}; }

std::vector<PaymentMethod> SelectPaymentMethods(db::Session& session,
                                                const db::ClauseBuilder& sql) {
  std::vector<PaymentMethod> methods;
  auto rows = session.Query<kPaymentMethods>(sql);
  while (rows.Next()) methods.push_back(ReadPaymentMethod(rows));
  return methods;
}

std::optional<PaymentMethod> SelectPaymentMethodByCode(db::Session& session, db::CompanyId company,
                                                       std::string_view code) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT id, code, description, service_types, active
      FROM payment_method WHERE company_id = $1 AND code = $2
      )sql";
  const auto row = session.One<kSelect>(company, code);
  if (!row) return std::nullopt;
  return ReadPaymentMethod(*row);
}

std::vector<std::string> SelectPaymentMethodCodes(db::Session& session, db::CompanyId company) {
  return session.FindTexts(R"sql(
      SELECT code FROM payment_method
      WHERE company_id = $1 AND active = 1 AND service_types <> 0 ORDER BY code
      )sql",
                           company);
}

UpsertResult Upsert(db::Tx& tx, db::CompanyId company, const PaymentMethod& method) {
  const bool existed = SelectPaymentMethod(tx, company, method.id).has_value();
  const int64_t written = tx.RunCounted(
      R"sql(
      INSERT INTO payment_method (company_id, id, code, description, service_types, active,
        created_seq)
      VALUES ($1, $2, $3, $4, $5, $6,
        (SELECT coalesce(max(created_seq), 0) + 1 FROM payment_method WHERE company_id = $1))
      ON CONFLICT (company_id, id) DO UPDATE SET code = excluded.code,
        description = excluded.description, service_types = excluded.service_types,
        active = excluded.active
      WHERE (payment_method.code, payment_method.description, payment_method.service_types,
        payment_method.active)
        IS DISTINCT FROM (excluded.code, excluded.description, excluded.service_types,
        excluded.active)
      )sql",
      company, method.id, method.code, method.description,
      static_cast<int64_t>(method.service_types), method.active);
  return ResultOf(existed, written);
}

int64_t LastPaymentMethod(db::Session& session, db::CompanyId company) {
  return session.GetInt(R"sql(
      SELECT coalesce(max(created_seq), 0) FROM payment_method WHERE company_id = $1
      )sql",
                        company);
}

std::optional<Table> SelectTable(db::Session& session, db::CompanyId company, std::string_view id) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT id, name, area, active FROM dining_table WHERE company_id = $1 AND id = $2
      )sql";
  const auto row = session.One<kSelect>(company, id);
  if (!row) return std::nullopt;
  return ReadTable(*row);
}

db::ClauseBuilder TablesOf(db::CompanyId company) { return {kTables, {company}}; }

std::vector<Table> SelectTables(db::Session& session, const db::ClauseBuilder& sql) {
  std::vector<Table> tables;
  auto rows = session.Query<kTables>(sql);
  while (rows.Next()) tables.push_back(ReadTable(rows));
  return tables;
}

UpsertResult Upsert(db::Tx& tx, db::CompanyId company, const Table& table) {
  const bool existed = SelectTable(tx, company, table.id).has_value();
  const int64_t written = tx.RunCounted(
      R"sql(
      INSERT INTO dining_table (company_id, id, name, name_folded, area, active, created_seq)
      VALUES ($1, $2, $3, $4, $5, $6,
        (SELECT coalesce(max(created_seq), 0) + 1 FROM dining_table WHERE company_id = $1))
      ON CONFLICT (company_id, id) DO UPDATE SET name = excluded.name,
        name_folded = excluded.name_folded, area = excluded.area, active = excluded.active
      WHERE (dining_table.name, dining_table.name_folded, dining_table.area, dining_table.active)
        IS DISTINCT FROM (excluded.name, excluded.name_folded, excluded.area, excluded.active)
      )sql",
      company, table.id, table.name, Folded(table.name), table.area, table.active);
  return ResultOf(existed, written);
}

int64_t LastTable(db::Session& session, db::CompanyId company) {
  return session.GetInt(R"sql(
      SELECT coalesce(max(created_seq), 0) FROM dining_table WHERE company_id = $1
      )sql",
                        company);
}

void EraseAll(db::Tx& tx, db::CompanyId company) {
  tx.Run(R"sql(DELETE FROM payment_method WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM dining_table WHERE company_id = $1)sql", company);
}

}  // namespace comanda::company
