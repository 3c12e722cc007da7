#include "users/import.h"

#include <string_view>
#include <utility>

#include "base/text.h"
#include "company/import_row.h"
#include "users/store.h"
#include "users/users.h"

namespace comanda::users {
namespace {

const std::vector<std::string_view>& Roles() {
  static const std::vector<std::string_view> kNames(kRoles.begin(), kRoles.end());
  return kNames;
}

std::string ReadRole(json::ObjectReader& row) {
  const auto role = row.OneOf("role", Roles());
  if (role) return std::string(Roles()[*role]);
  if (!row.Raw("role")) {
    row.Fail("role", FieldCode::kRequired,
             "is required: admin, manager, waiter, rider, cook, sales or cashier");
  }
  return "";
}

Draft ReadDraft(json::ObjectReader& row, company::RowIds& ids) {
  Draft draft;
  draft.name = row.RequireText("name", company::kNameRule).value_or("");
  draft.email = company::ReadEmail(row);
  company::Phone phone = company::ReadPhone(row);
  draft.country_calling_code = std::move(phone.country_calling_code);
  draft.phone_number = std::move(phone.number);
  draft.role = ReadRole(row);
  draft.active = row.Boolean("active").value_or(true);
  if (draft.email) {
    draft.id = ids.Take(row, "email", "email:" + *draft.email);
  } else if (draft.phone_number) {
    draft.id = ids.Take(row, "phone_number",
                        "phone:" + draft.country_calling_code.value_or("") + *draft.phone_number);
  } else {
    draft.id = ids.Take(row, "name", draft.name.empty() ? "" : "name:" + Folded(draft.name));
  }
  row.Finish();
  return draft;
}

}  // namespace

std::vector<Draft> ReadDrafts(json::ObjectReader& row, const std::string& company_uuid) {
  company::RowIds ids(company_uuid, "user");
  std::vector<Draft> drafts;
  for (json::ObjectReader& item : row.Objects("users", company::kRowsMax, true)) {
    drafts.push_back(ReadDraft(item, ids));
  }
  return drafts;
}

company::ImportCounts Import(db::Tx& tx, db::CompanyId company, const std::vector<Draft>& drafts,
                             const db::Stamp& stamp) {
  company::ImportCounts counts;
  for (const Draft& draft : drafts) counts.Count(Upsert(tx, company, draft, stamp));
  return counts;
}

}  // namespace comanda::users
