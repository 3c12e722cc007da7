#include "company/import.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/concat.h"
#include "base/money.h"
#include "base/text.h"
#include "base/time/zone.h"
#include "base/time/zone_names.h"
#include "company/import_row.h"
#include "company/json.h"
#include "company/store.h"
#include "crypto/derived_id.h"

namespace comanda::company {
namespace {

// The namespace of derived company ids. Changing it would change the ids of existing companies.
constexpr std::string_view kCompanies = "6f0c1f0e-2c1b-4a55-9d0e-5b1f5e0a7c31";

constexpr json::TextRule kCodeRule = {.max = 100, .card_numbers_refused = false};
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

// The profile, a field each.

void ReadName(json::ObjectReader& row, Company& company) {
  TakeRequired(row, "name", kNameRule, company.name);
}

void ReadDescription(json::ObjectReader& row, Company& company) {
  Take(row, "description", row.Text("description", kProseRule), company.description);
}

void ReadLogo(json::ObjectReader& row, Company& company) {
  Take(row, "logo", row.Text("logo", kUrlRule), company.logo);
}

void ReadPublicUrl(json::ObjectReader& row, Company& company) {
  Take(row, "public_url", row.Text("public_url", kUrlRule), company.public_url);
}

void ReadPhone(json::ObjectReader& row, Company& company) {
  Take(row, "phone", row.Text("phone", kNumberRule), company.phone);
}

void ReadLanguage(json::ObjectReader& row, Company& company) {
  auto language = row.Text("language", kNameRule);
  if (language && !IsWord(*language, 2, 'a', 'z')) {
    row.Fail("language", FieldCode::kInvalidFormat,
             "must be two lower-case letters as in ISO 639-1, like es");
  }
  Take(row, "language", std::move(language), company.language);
}

void ReadBusinessHours(json::ObjectReader& row, Company& company) {
  const std::optional<json::Value> value = row.Raw("business_hours");
  const bool is_object = value && value->kind() == json::Kind::kObject;
  if (is_object) {
    json::ObjectReader week = *row.Object("business_hours");
    company.business_hours = HoursText(ReadHours(week));
  } else if (!IsTolerated(row)) {
    if (value) row.Fail("business_hours", FieldCode::kWrongType, kExampleHours);
    company.business_hours = HoursText(Hours{});
  }
}

void ReadDayStart(json::ObjectReader& row, Company& company) {
  const auto text = row.Text("day_starts_at", kNameRule);
  if (!text) return;
  const std::optional<int> minute = TimeOfDayIn(row, *text);
  if (!minute) {
    row.Fail("day_starts_at", FieldCode::kInvalidFormat,
             "must be a time of day from 00:00 to 23:59, like 05:00");
  }
  company.day_starts_at = minute.value_or(0);
}

void ReadLocation(json::ObjectReader& row, Company& company) {
  std::optional<json::ObjectReader> location = row.Object("location");
  if (!location) return;
  Take(*location, "address", location->Text("address", kAddressRule), company.address);
  Take(*location, "area", location->Text("area", kNameRule), company.area);
  Take(*location, "city", location->Text("city", kNameRule), company.city);
  Take(*location, "state", location->Text("state", kNameRule), company.state);
  Take(*location, "postal_code", location->Text("postal_code", kNameRule), company.postal_code);
  ReadCoordinates(*location, company.latitude, company.longitude);
  const auto country = location->Text("country_code", kNameRule);
  if (country && !IsTolerated(row) && *country != company.country_code) {
    location->Fail("country_code", FieldCode::kNotAllowed,
                   "differs from the company's country_code; leave it out here");
  }
  location->Finish();
}

std::string ReadId(json::ObjectReader& row, const Company& company) {
  if (auto id = row.Uuid("id")) return *std::move(id);
  return crypto::DerivedId(kCompanies, company.country_code + ":" + Folded(company.name));
}

using ReadField = void (*)(json::ObjectReader& row, Company& company);
constexpr std::array<ReadField, 9> kProfile = {ReadName,      ReadDescription,   ReadLogo,
                                               ReadPublicUrl, ReadPhone,         ReadLocation,
                                               ReadLanguage,  ReadBusinessHours, ReadDayStart};

Company ReadCompany(json::ObjectReader& row, const std::vector<Company>& stored) {
  Company company;
  company.country_code = ReadCountry(row);
  for (const ReadField read : kProfile) read(row, company);
  company.id = ReadId(row, company);
  ReadZone(row, stored, company);
  ReadCurrency(row, company);
  return company;
}

// `bits`: where the row does not name them.
uint32_t ReadServiceTypes(json::ObjectReader& row, uint32_t bits) {
  // Another system may have types of its own, which are passed.
  const size_t max = IsTolerated(row) ? kRowsMax : kServiceTypes.size();
  const auto names = row.Texts("service_types", max, kNameRule);
  if (!names) return bits;
  bits = 0;
  for (const std::string& name : *names) {
    for (size_t i = 0; i < kServiceTypes.size(); ++i) {
      if (name == kServiceTypes[i]) bits |= 1u << i;
    }
  }
  const bool are_known = std::cmp_equal(__builtin_popcount(bits), names->size());
  if (!are_known && !IsTolerated(row)) {
    row.Fail("service_types", FieldCode::kUnknownValue,
             "must list some of ONSITE, TABLE, DELIVERY, TAKEAWAY, each once, in capitals");
  }
  return bits;
}

void ReadFields(json::ObjectReader& row, PaymentMethod& method) {
  TakeRequired(row, "code", kCodeRule, method.code);
  auto description = row.Text("description", kNameRule);
  if (!description && method.description.empty()) description = method.code;
  if (description) method.description = *std::move(description);
  method.service_types = ReadServiceTypes(row, method.service_types);
  method.active = row.Boolean("active").value_or(method.active);
}

void ReadFields(json::ObjectReader& row, Table& table) {
  TakeRequired(row, "name", kNameRule, table.name);
  Take(row, "area", row.Text("area", kNameRule), table.area);
  table.active = row.Boolean("active").value_or(table.active);
}

std::vector<PaymentMethod> ReadPaymentMethods(json::ObjectReader& row,
                                              const std::string& company_uuid) {
  RowIds ids(company_uuid, "payment_method");
  Distinct codes;
  std::vector<PaymentMethod> methods;
  for (json::ObjectReader& item : row.Objects("payment_methods", kRowsMax, true)) {
    PaymentMethod& method = methods.emplace_back(PaymentMethod{.service_types = kAllServiceTypes});
    ReadFields(item, method);
    method.id = ids.Take(item, "", method.code);
    if (!method.code.empty()) codes.Add(item, "code", method.code);
    item.Finish();
  }
  return methods;
}

std::vector<Table> ReadTables(json::ObjectReader& row, const std::string& company_uuid) {
  RowIds ids(company_uuid, "table");
  std::vector<Table> tables;
  for (json::ObjectReader& item : row.Objects("tables", kRowsMax, true)) {
    Table& table = tables.emplace_back();
    ReadFields(item, table);
    table.id = ids.Take(item, "name", Folded(table.name));
    item.Finish();
  }
  return tables;
}

void CheckCode(db::Session& session, db::CompanyId company, const PaymentMethod& method,
               const std::string& path, size_t offset, json::Errors& errors) {
  const auto holder = SelectPaymentMethodByCode(session, company, method.code);
  if (!holder || holder->id == method.id) return;
  errors.Add(path + "code", FieldCode::kDuplicate,
             "belongs to the stored payment method " + holder->id + "; give this row that id",
             offset);
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

void ReadShown(json::Value record, PaymentMethod& method, json::Errors& errors) {
  json::ObjectReader row(record, "", errors, json::UnknownFields::kTolerated);
  ReadFields(row, method);
}

void ReadShown(json::Value record, Table& table, json::Errors& errors) {
  json::ObjectReader row(record, "", errors, json::UnknownFields::kTolerated);
  ReadFields(row, table);
}

std::vector<FieldError> ReadShown(json::Value record, Company& company) {
  std::vector<FieldError> refused;
  for (const ReadField read : kProfile) {
    json::Errors errors;
    json::ObjectReader row(record, "", errors, json::UnknownFields::kTolerated);
    Company changed = company;
    read(row, changed);
    if (errors.empty()) {
      company = std::move(changed);
    } else {
      refused.push_back(errors.First());
    }
  }
  return refused;
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
  for (size_t i = 0; i < draft.payment_methods.size(); ++i) {
    CheckCode(session, known->company_id, draft.payment_methods[i],
              draft.path + ".payment_methods[" + std::to_string(i) + "].", draft.offset, errors);
  }
}

UpsertResult Put(db::Tx& tx, db::CompanyId company, const PaymentMethod& method) {
  json::Errors errors;
  CheckCode(tx, company, method, "", 0, errors);
  errors.ThrowIfAny();
  return Upsert(tx, company, method);
}

UpsertResult Put(db::Tx& tx, db::CompanyId company, const Table& table) {
  return Upsert(tx, company, table);
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
