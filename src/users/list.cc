#include "users/list.h"

#include <array>
#include <optional>

#include "base/problem.h"
#include "users/json.h"
#include "users/store.h"
#include "users/users.h"

namespace comanda::users {
namespace {

using http::ListFilter;
using http::ListSort;

constexpr std::array kFilters = {
    ListFilter{"filter[role]", "s.role IN ({})", http::ReadWords<kRoles>},
    ListFilter{"filter[active]", "s.active = {}", http::ReadBoolean},
    ListFilter{http::kSnapshotParameter, "NOT s.created_seq > {}", http::ReadSnapshot},
};
constexpr std::array kSorts = {
    ListSort{"name", "s.name_folded, s.id", "s.name_folded DESC, s.id DESC"},
    ListSort{"created_at", "s.created_at, s.id", "s.created_at DESC, s.id DESC"},
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

  db::ClauseBuilder sql = PageOf(company);
  conditions.Narrow(sql);
  sql.OrderBy(http::ReadSort(query, kSorts, "name"))
      .Limit(page.paging.per_page, page.paging.offset());
  for (const User& user : SelectPage(session, sql)) rows.Add(Render(user));

  db::ClauseBuilder count(R"sql(SELECT count(*) FROM staff s WHERE s.company_id = $1)sql",
                          {company});
  conditions.Narrow(count);
  page.total = session.GetInt(count);
  page.snapshot = http::SnapshotOf(query, LastCreated(session, company));
  return page;
}

}  // namespace comanda::users
