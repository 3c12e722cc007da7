#include "company/store.h"

#include <utility>

#include "base/id.h"
#include "base/money.h"
#include "base/problem.h"
#include "company/companies.h"

namespace comanda::company {
namespace {

Company ReadCompany(const db::Rows& row) {
  Company company;
  company.company_id = row.Int(0);
  company.id = row.Text(1);
  company.name = row.Text(2);
  company.description = row.OptionalText(3);
  company.logo = row.OptionalText(4);
  company.public_url = row.OptionalText(5);
  company.phone = row.OptionalText(6);
  company.address = row.OptionalText(7);
  company.area = row.OptionalText(8);
  company.city = row.OptionalText(9);
  company.state = row.OptionalText(10);
  company.country_code = row.Text(11);
  company.postal_code = row.OptionalText(12);
  company.latitude = row.OptionalText(13);
  company.longitude = row.OptionalText(14);
  company.timezone = row.Text(15);
  company.business_hours = row.Text(16);
  company.language = row.OptionalText(17);
  company.currency = row.Text(18);
  company.day_starts_at = static_cast<int>(row.Int(19));
  company.created_at = row.Int(20);
  company.updated_at = row.Int(21);
  const std::optional<int> decimals = CurrencyDecimals(company.currency);
  constexpr int kDayMinutes = 24 * 60;
  if (!decimals || !ParseId(company.id) || company.day_starts_at < 0 ||
      company.day_starts_at >= kDayMinutes) {
    throw Fault(Fault::Kind::kDamaged, "company " + std::to_string(company.company_id) +
                                           " has an id, a currency or a start of its day that "
                                           "nobody wrote");
  }
  company.currency_decimals = *decimals;
  return company;
}

PaymentMethod ReadPaymentMethod(const db::Rows& row) {
  PaymentMethod method;
  method.id = row.Text(0);
  method.code = row.Text(1);
  method.description = row.Text(2);
  method.service_types = static_cast<uint32_t>(row.Int(3));
  method.active = row.Bool(4);
  return method;
}

}  // namespace

std::optional<Company> Select(db::Session& session, db::CompanyId company) {
  const auto row = session.One(
      "SELECT company_id, id, name, description, logo, public_url, phone, address, area, city, "
      "state,"
      " country_code, postal_code, latitude, longitude, timezone, business_hours, language, "
      "currency,"
      " day_starts_at, created_at, updated_at FROM company WHERE company_id = $1",
      company);
  if (!row) return std::nullopt;
  return ReadCompany(*row);
}

std::optional<Company> SelectByUuid(db::Session& session, std::string_view id) {
  const auto row = session.One(
      "SELECT company_id, id, name, description, logo, public_url, phone, address, area, city, "
      "state,"
      " country_code, postal_code, latitude, longitude, timezone, business_hours, language, "
      "currency,"
      " day_starts_at, created_at, updated_at FROM company WHERE id = $1",
      id);
  if (!row) return std::nullopt;
  return ReadCompany(*row);
}

std::vector<Company> SelectAll(db::Session& session) {
  db::Rows rows = session.Query(
      "SELECT company_id, id, name, description, logo, public_url, phone, address, area, city, "
      "state,"
      " country_code, postal_code, latitude, longitude, timezone, business_hours, language, "
      "currency,"
      " day_starts_at, created_at, updated_at FROM company ORDER BY name, company_id");
  std::vector<Company> companies;
  while (rows.Next()) companies.push_back(ReadCompany(rows));
  return companies;
}

Outcome Upsert(db::Tx& tx, Company& company, const db::Stamp& stamp) {
  const std::optional<Company> known = SelectByUuid(tx, company.id);
  company.company_id = known ? known->company_id : [&tx] {
    const auto row = tx.One("SELECT coalesce(max(company_id), 0) + 1 FROM company");
    return row->Int(0);
  }();
  const int64_t written = tx.Run(
      "INSERT INTO company (company_id, id, name, description, logo, public_url, phone, address, "
      "area,"
      " city, state, country_code, postal_code, latitude, longitude, timezone, business_hours, "
      "language,"
      " currency, day_starts_at, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, "
      "$9, $10,"
      " $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $21)"
      " ON CONFLICT (company_id) DO UPDATE SET name = excluded.name, description = "
      "excluded.description,"
      " logo = excluded.logo, public_url = excluded.public_url, phone = excluded.phone,"
      " address = excluded.address, area = excluded.area, city = excluded.city, state = "
      "excluded.state,"
      " country_code = excluded.country_code, postal_code = excluded.postal_code,"
      " latitude = excluded.latitude, longitude = excluded.longitude, timezone = excluded.timezone,"
      " business_hours = excluded.business_hours, language = excluded.language,"
      " currency = excluded.currency, day_starts_at = excluded.day_starts_at,"
      " updated_at = excluded.updated_at"
      " WHERE (company.name, company.description, company.logo, company.public_url, company.phone,"
      " company.address, company.area, company.city, company.state, company.country_code,"
      " company.postal_code, company.latitude, company.longitude, company.timezone,"
      " company.business_hours, company.language, company.currency, company.day_starts_at)"
      " IS DISTINCT FROM (excluded.name, excluded.description, excluded.logo, excluded.public_url,"
      " excluded.phone, excluded.address, excluded.area, excluded.city, excluded.state,"
      " excluded.country_code, excluded.postal_code, excluded.latitude, excluded.longitude,"
      " excluded.timezone, excluded.business_hours, excluded.language, excluded.currency,"
      " excluded.day_starts_at)",
      company.company_id, company.id, company.name, company.description, company.logo,
      company.public_url, company.phone, company.address, company.area, company.city, company.state,
      company.country_code, company.postal_code, company.latitude, company.longitude,
      company.timezone, company.business_hours, company.language, company.currency,
      company.day_starts_at, stamp.now);
  tx.Run(
      "INSERT INTO company_counter (company_id, epoch) VALUES ($1, $2)"
      " ON CONFLICT (company_id) DO NOTHING",
      company.company_id, tx.counters().first_epoch());
  return OutcomeOf(known.has_value(), written);
}

std::optional<PaymentMethod> SelectPaymentMethod(db::Session& session, db::CompanyId company,
                                                 std::string_view id) {
  const auto row = session.One(
      "SELECT id, code, description, service_types, active FROM payment_method"
      " WHERE company_id = $1 AND id = $2",
      company, id);
  if (!row) return std::nullopt;
  return ReadPaymentMethod(*row);
}

std::optional<PaymentMethod> SelectPaymentMethodByCode(db::Session& session, db::CompanyId company,
                                                       std::string_view code) {
  const auto row = session.One(
      "SELECT id, code, description, service_types, active FROM payment_method"
      " WHERE company_id = $1 AND code = $2",
      company, code);
  if (!row) return std::nullopt;
  return ReadPaymentMethod(*row);
}

std::vector<std::string> SelectPaymentMethodCodes(db::Session& session, db::CompanyId company) {
  db::Rows rows = session.Query(
      "SELECT code FROM payment_method WHERE company_id = $1 AND active = 1 ORDER BY code",
      company);
  std::vector<std::string> codes;
  while (rows.Next()) codes.push_back(rows.Text(0));
  return codes;
}

Outcome Upsert(db::Tx& tx, db::CompanyId company, const PaymentMethod& method) {
  const bool existed = SelectPaymentMethod(tx, company, method.id).has_value();
  const int64_t written = tx.Run(
      "INSERT INTO payment_method (company_id, id, code, description, service_types, active, "
      "created_seq)"
      " VALUES ($1, $2, $3, $4, $5, $6,"
      " (SELECT coalesce(max(created_seq), 0) + 1 FROM payment_method WHERE company_id = $1))"
      " ON CONFLICT (company_id, id) DO UPDATE SET code = excluded.code,"
      " description = excluded.description, service_types = excluded.service_types,"
      " active = excluded.active"
      " WHERE (payment_method.code, payment_method.description, payment_method.service_types,"
      " payment_method.active)"
      " IS DISTINCT FROM (excluded.code, excluded.description, excluded.service_types, "
      "excluded.active)",
      company, method.id, method.code, method.description,
      static_cast<int64_t>(method.service_types), method.active);
  return OutcomeOf(existed, written);
}

int64_t LastPaymentMethod(db::Session& session, db::CompanyId company) {
  const auto row = session.One(
      "SELECT coalesce(max(created_seq), 0) FROM payment_method WHERE company_id = $1", company);
  return row->Int(0);
}

std::optional<Table> SelectTable(db::Session& session, db::CompanyId company, std::string_view id) {
  const auto row = session.One(
      "SELECT id, name, area, active FROM dining_table WHERE company_id = $1 AND id = $2", company,
      id);
  if (!row) return std::nullopt;
  Table table;
  table.id = row->Text(0);
  table.name = row->Text(1);
  table.area = row->OptionalText(2);
  table.active = row->Bool(3);
  return table;
}

Outcome Upsert(db::Tx& tx, db::CompanyId company, const Table& table) {
  const bool existed = SelectTable(tx, company, table.id).has_value();
  const int64_t written = tx.Run(
      "INSERT INTO dining_table (company_id, id, name, area, active) VALUES ($1, $2, $3, $4, $5)"
      " ON CONFLICT (company_id, id) DO UPDATE SET name = excluded.name, area = excluded.area,"
      " active = excluded.active"
      " WHERE (dining_table.name, dining_table.area, dining_table.active)"
      " IS DISTINCT FROM (excluded.name, excluded.area, excluded.active)",
      company, table.id, table.name, table.area, table.active);
  return OutcomeOf(existed, written);
}

// In two steps: RETURNING would cost more than both.
std::optional<int64_t> NextOrderNumber(db::Tx& tx, db::CompanyId company,
                                       std::string_view business_day) {
  const int64_t counted = tx.Run(
      "UPDATE company_counter SET order_number = order_number + 1"
      " WHERE company_id = $1 AND business_day = $2",
      company, business_day);
  if (counted == 0) return std::nullopt;
  const auto row =
      tx.One("SELECT order_number FROM company_counter WHERE company_id = $1", company);
  if (!row) {
    throw Fault(Fault::Kind::kDamaged, "company " + std::to_string(company) + " has no counters");
  }
  return row->Int(0);
}

void StartOrderNumbers(db::Tx& tx, db::CompanyId company, std::string_view business_day,
                       int64_t first) {
  tx.Run("UPDATE company_counter SET business_day = $2, order_number = $3 WHERE company_id = $1",
         company, business_day, first);
}

void EraseAll(db::Tx& tx, db::CompanyId company) {
  tx.Run("DELETE FROM payment_method WHERE company_id = $1", company);
  tx.Run("DELETE FROM dining_table WHERE company_id = $1", company);
}

}  // namespace comanda::company
