#include "users/import.h"

#include <string_view>

#include "company/import_row.h"
#include "users/store.h"

namespace comanda::users {
namespace {

const std::vector<std::string_view>& Roles() {
  static const std::vector<std::string_view> kNames(kRoles.begin(), kRoles.end());
  return kNames;
}

company::Person PersonOf(User& user) {
  return {.name = user.name,
          .email = user.email,
          .country_calling_code = user.country_calling_code,
          .phone_number = user.phone_number};
}

void ReadRole(json::ObjectReader& row, std::string& role) {
  const size_t errors_before = row.errors().size();
  const bool is_passed = company::IsTolerated(row) && row.IsNull("role");
  if (const auto named = is_passed ? std::nullopt : row.OneOf("role", Roles())) {
    role = Roles()[*named];
  } else if (role.empty() && row.errors().size() == errors_before) {
    row.Fail("role", FieldCode::kRequired,
             "is required: admin, manager, waiter, rider, cook, sales or cashier");
  }
}

void ReadFields(json::ObjectReader& row, User& user) {
  company::ReadPerson(row, PersonOf(user));
  ReadRole(row, user.role);
  user.active = row.Boolean("active").value_or(user.active);
}

}  // namespace

std::vector<User> ReadFile(json::ObjectReader& row, const std::string& company_uuid) {
  company::RowIds ids(company_uuid, "user");
  std::vector<User> users;
  for (json::ObjectReader& item : row.Objects("users", company::kRowsMax, true)) {
    User& user = users.emplace_back();
    ReadFields(item, user);
    user.id = company::TakeId(item, ids, PersonOf(user));
    item.Finish();
  }
  return users;
}

void ReadShown(json::Value record, User& user, json::Errors& errors) {
  json::ObjectReader row(record, "", errors, json::UnknownFields::kTolerated);
  ReadFields(row, user);
}

company::ImportCounts Import(db::Tx& tx, db::CompanyId company, const std::vector<User>& users,
                             const db::Stamp& stamp) {
  company::ImportCounts counts;
  for (const User& user : users) counts.Count(Upsert(tx, company, user, stamp));
  return counts;
}

}  // namespace comanda::users
