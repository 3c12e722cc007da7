#include "company/import.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/concat.h"
#include "base/money.h"
#include "base/text.h"
#include "base/zone.h"
#include "base/zone_names.h"
#include "company/import_row.h"
#include "company/json.h"
#include "company/store.h"
#include "crypto/derived_id.h"

namespace comanda::company {
namespace {

// The namespace of derived company ids. Changing it would change the ids of existing companies.
constexpr std::string_view kCompanies = "6f0c1f0e-2c1b-4a55-9d0e-5b1f5e0a7c31";

constexpr uint32_t kAllServiceTypes = 0b1111;
constexpr std::string_view kExampleHours =
    "must be an object of weekdays, like {\"monday\": {\"is_active\": true, \"hours\": [{\"open\": "
    "\"12:00\", \"close\": \"17:00\"}]}}";

bool IsWord(std::string_view text, size_t size, char first, char last) {
  if (text.size() != size) return false;
  for (const char c : text) {
    if (c < first || c > last) return false;
  }
  return true;
}

std::string ReadCountry(json::ObjectReader& row) {
  const auto country = row.RequireText("country_code", kNameRule);
  if (!country) return "";
  if (!IsWord(*country, 2, 'A', 'Z')) {
    row.Fail("country_code", FieldCode::kInvalidFormat,
             "must be two capitals as in ISO 3166, like PE");
  }
  return *country;
}

// Needs the company's id.
void ReadZone(json::ObjectReader& row, const std::vector<Company>& stored, Company& company) {
  const auto name = row.RequireText("timezone", kNameRule);
  if (!name) return;
  company.timezone = ZoneNameToStore(*name);
  if (Zone::Find(*name)) return;
  const auto former = std::ranges::find(stored, company.id, &Company::id);
  if (former != stored.end() &&
      CanonicalZoneName(former->timezone) == CanonicalZoneName(company.timezone)) {
    company.timezone = former->timezone;
    company.utc_offset_s = former->utc_offset_s;
    return;
  }
  row.Fail("timezone", FieldCode::kUnknownValue,
           Concat({"must be a time zone like America/Lima; ", ZoneAdvice(*name)}));
}

void ReadCurrency(json::ObjectReader& row, Company& company) {
  const auto currency = row.RequireText("currency", kNameRule);
  company.currency = currency.value_or("");
  const std::optional<int> decimals = CurrencyDecimals(company.currency);
  if (currency && !decimals) {
    row.Fail("currency", FieldCode::kUnknownValue,
             "must be the code of a currency as in ISO 4217, like PEN");
  }
  company.currency_decimals = decimals.value_or(2);
}

std::optional<std::string> ReadLanguage(json::ObjectReader& row) {
  const auto language = row.Text("language", kNameRule);
  if (language && !IsWord(*language, 2, 'a', 'z')) {
    row.Fail("language", FieldCode::kInvalidFormat,
             "must be two lower-case letters as in ISO 639-1, like es");
  }
  return language;
}

std::string ReadBusinessHours(json::ObjectReader& row) {
  const std::optional<json::Value> value = row.Raw("business_hours");
  if (!value) return HoursText(Hours{});
  if (value->kind() != json::Kind::kObject) {
    row.Fail("business_hours", FieldCode::kWrongType, kExampleHours);
    return "";
  }
  json::ObjectReader week = *row.Object("business_hours");
  return HoursText(ReadHours(week));
}

int ReadDayStart(json::ObjectReader& row) {
  const auto text = row.Text("day_starts_at", kNameRule);
  if (!text) return 0;
  const std::optional<int> minute = ParseTimeOfDay(*text);
  if (!minute) {
    row.Fail("day_starts_at", FieldCode::kInvalidFormat,
             "must be a time of day from 00:00 to 23:59, like 05:00");
  }
  return minute.value_or(0);
}

void ReadLocation(json::ObjectReader& row, Company& company) {
  std::optional<json::ObjectReader> location = row.Object("location");
  if (!location) return;
  company.address = location->Text("address", kAddressRule);
  company.area = location->Text("area", kNameRule);
  company.city = location->Text("city", kNameRule);
  company.state = location->Text("state", kNameRule);
  company.postal_code = location->Text("postal_code", kNameRule);
  Coordinates coordinates = ReadCoordinates(*location);
  company.latitude = std::move(coordinates.latitude);
  company.longitude = std::move(coordinates.longitude);
  const auto country = location->Text("country_code", kNameRule);
  if (country && *country != company.country_code) {
    location->Fail("country_code", FieldCode::kNotAllowed,
                   "differs from the company's country_code; leave it out here");
  }
  location->Finish();
}

std::string ReadId(json::ObjectReader& row, const Company& company) {
  if (auto id = row.Uuid("id")) return *std::move(id);
  return crypto::DerivedId(kCompanies, company.country_code + ":" + Folded(company.name));
}

Company ReadCompany(json::ObjectReader& row, const std::vector<Company>& stored) {
  Company company;
  company.name = row.RequireText("name", kNameRule).value_or("");
  company.description = row.Text("description", kProseRule);
  company.logo = row.Text("logo", kUrlRule);
  company.public_url = row.Text("public_url", kUrlRule);
  company.phone = row.Text("phone", kNumberRule);
  company.country_code = ReadCountry(row);
  ReadLocation(row, company);
  company.id = ReadId(row, company);
  ReadZone(row, stored, company);
  company.business_hours = ReadBusinessHours(row);
  company.language = ReadLanguage(row);
  ReadCurrency(row, company);
  company.day_starts_at = ReadDayStart(row);
  return company;
}

uint32_t ReadServiceTypes(json::ObjectReader& row) {
  const auto names = row.Texts("service_types", kServiceTypes.size(), kNameRule);
  if (!names) return kAllServiceTypes;
  uint32_t bits = 0;
  for (const std::string& name : *names) {
    for (size_t i = 0; i < kServiceTypes.size(); ++i) {
      if (name == kServiceTypes[i]) bits |= 1u << i;
    }
  }
  if (std::cmp_not_equal(__builtin_popcount(bits), names->size())) {
    row.Fail("service_types", FieldCode::kUnknownValue,
             "must list some of ONSITE, TABLE, DELIVERY, TAKEAWAY, each once, in capitals");
  }
  return bits;
}

std::vector<PaymentMethod> ReadPaymentMethods(json::ObjectReader& row,
                                              const std::string& company_uuid) {
  RowIds ids(company_uuid, "payment_method");
  Distinct codes;
  std::vector<PaymentMethod> methods;
  for (json::ObjectReader& item : row.Objects("payment_methods", kRowsMax, true)) {
    PaymentMethod& method = methods.emplace_back();
    const auto code = item.RequireText("code", {.max = 100, .card_numbers_refused = false});
    method.code = code.value_or("");
    method.id = ids.Take(item, "", method.code);
    codes.Add(item, "code", code);
    method.description = item.Text("description", kNameRule).value_or(method.code);
    method.service_types = ReadServiceTypes(item);
    method.active = item.Boolean("active").value_or(true);
    item.Finish();
  }
  return methods;
}

std::vector<Table> ReadTables(json::ObjectReader& row, const std::string& company_uuid) {
  RowIds ids(company_uuid, "table");
  std::vector<Table> tables;
  for (json::ObjectReader& item : row.Objects("tables", kRowsMax, true)) {
    Table& table = tables.emplace_back();
    table.name = item.RequireText("name", kNameRule).value_or("");
    table.id = ids.Take(item, "name", Folded(table.name));
    table.area = item.Text("area", kNameRule);
    table.active = item.Boolean("active").value_or(true);
    item.Finish();
  }
  return tables;
}

void CheckCodes(db::Session& session, db::CompanyId company, const Draft& draft,
                json::Errors& errors) {
  for (size_t i = 0; i < draft.payment_methods.size(); ++i) {
    const PaymentMethod& method = draft.payment_methods[i];
    const auto holder = SelectPaymentMethodByCode(session, company, method.code);
    if (!holder || holder->id == method.id) continue;
    errors.Add(draft.path + ".payment_methods[" + std::to_string(i) + "].code",
               FieldCode::kDuplicate,
               "belongs to the stored payment method " + holder->id + "; give this row that id",
               draft.offset);
  }
}

}  // namespace

Draft ReadDraft(json::ObjectReader& row, const std::vector<Company>& stored) {
  Draft draft;
  draft.path = row.path();
  draft.offset = row.offset();
  draft.has_id = row.Raw("id").has_value();
  draft.company = ReadCompany(row, stored);
  draft.payment_methods = ReadPaymentMethods(row, draft.company.id);
  draft.tables = ReadTables(row, draft.company.id);
  return draft;
}

void Check(db::Session& session, const Draft& draft, json::Errors& errors) {
  const std::optional<Company> known = SelectByUuid(session, draft.company.id);
  if (!known) return;
  // Amounts are stored in minor units; under another currency they would mean other sums.
  const bool is_currency = CurrencyDecimals(draft.company.currency).has_value();
  if (is_currency && known->currency != draft.company.currency) {
    errors.Add(draft.path + ".currency", FieldCode::kNotAllowed,
               "must stay " + known->currency + ", the currency that this company is stored with",
               draft.offset);
  }
  CheckCodes(session, known->company_id, draft, errors);
}

Imported Import(db::Tx& tx, const Draft& draft, const db::Stamp& stamp) {
  json::Errors errors;
  Check(tx, draft, errors);
  errors.ThrowIfAny();
  Imported imported;
  Company company = draft.company;
  if (const auto zone = Zone::Find(company.timezone)) {
    company.utc_offset_s = zone->UtcOffsetS(stamp.now);
  }
  imported.company.Count(Upsert(tx, company, stamp));
  imported.company_id = company.company_id;
  for (const PaymentMethod& method : draft.payment_methods) {
    imported.payment_methods.Count(Upsert(tx, company.company_id, method));
  }
  for (const Table& table : draft.tables) {
    imported.tables.Count(Upsert(tx, company.company_id, table));
  }
  return imported;
}

}  // namespace comanda::company
