#include "company/list.h"

#include <array>
#include <optional>

#include "base/problem.h"
#include "company/json.h"
#include "company/store.h"

namespace comanda::company {
namespace {

constexpr std::array kFilters = {
    http::ListFilter{http::kSnapshotParameter, "m.created_seq <= {}", http::ReadSnapshot},
};
constexpr std::array kSorts = {
    // Codes are unique, so no second column is needed.
    http::ListSort{"code", "m.code", "m.code DESC"},
};

}  // namespace

void RequireListParameters(const http::Query& query) {
  http::RequireListParameters(query, kFilters);
}

http::ListPage FindPage(db::Session& session, db::CompanyId company, const http::Query& query,
                        http::PageRows& rows) {
  const http::ListRequest request{session, company, query};
  const auto conditions = http::Conditions::Read(request, kFilters);
  http::ListPage page;
  page.paging = query.ReadPaging();

  db::ClauseBuilder sql(
      R"sql(
      SELECT m.id
      FROM payment_method m WHERE m.company_id = $1 AND m.active = 1 AND m.service_types <> 0
      )sql",
      {company});
  conditions.Narrow(sql);
  sql.OrderBy(http::ReadSort(query, kSorts, "code"))
      .Limit(page.paging.per_page, page.paging.offset());
  for (const std::string& id : session.FindTexts(sql)) {
    const auto method = SelectPaymentMethod(session, company, id);
    if (!method) {
      throw Fault(Fault::Kind::kDamaged, "payment method " + id + " is listed and not stored");
    }
    rows.Add(Render(*method));
  }

  db::ClauseBuilder count(
      R"sql(
      SELECT count(*)
      FROM payment_method m WHERE m.company_id = $1 AND m.active = 1 AND m.service_types <> 0
      )sql",
      {company});
  conditions.Narrow(count);
  page.total = session.GetInt(count);
  page.snapshot = http::SnapshotOf(query, LastPaymentMethod(session, company));
  return page;
}

}  // namespace comanda::company
