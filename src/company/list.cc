#include "company/list.h"

#include <array>
#include <optional>

#include "base/problem.h"
#include "company/json.h"
#include "company/store.h"

namespace comanda::company {
namespace {

constexpr std::array kPaymentMethodFilters = {
    http::ListFilter{http::kSnapshotParameter, "m.created_seq <= {}", http::ReadSnapshot},
};
constexpr std::array kPaymentMethodSorts = {
    // Codes are unique, so no second column is needed.
    http::ListSort{"code", "m.code", "m.code DESC"},
};

constexpr std::array kTableFilters = {
    http::ListFilter{http::kSnapshotParameter, "t.created_seq <= {}", http::ReadSnapshot},
};
constexpr std::array kTableSorts = {
    http::ListSort{"name", "t.name_folded, t.id", "t.name_folded DESC, t.id DESC"},
};

}  // namespace

void RequirePaymentMethodParameters(const http::Query& query) {
  http::RequireListParameters(query, kPaymentMethodFilters);
}

http::ListPage FindPaymentMethods(db::Session& session, db::CompanyId company,
                                  const http::Query& query, http::PageRows& rows) {
  const http::ListRequest request{session, company, query};
  const auto conditions = http::Conditions::Read(request, kPaymentMethodFilters);
  http::ListPage page;
  page.paging = query.ReadPaging();

  db::ClauseBuilder sql = PaymentMethodsOf(company);
  conditions.Narrow(sql);
  sql.OrderBy(http::ReadSort(query, kPaymentMethodSorts, "code"))
      .Limit(page.paging.per_page, page.paging.offset());
  for (const PaymentMethod& method : SelectPaymentMethods(session, sql)) rows.Add(Render(method));

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

void RequireTableParameters(const http::Query& query) {
  http::RequireListParameters(query, kTableFilters);
}

http::ListPage FindTables(db::Session& session, db::CompanyId company, const http::Query& query,
                          http::PageRows& rows) {
  const http::ListRequest request{session, company, query};
  const auto conditions = http::Conditions::Read(request, kTableFilters);
  http::ListPage page;
  page.paging = query.ReadPaging();

  db::ClauseBuilder sql = TablesOf(company);
  conditions.Narrow(sql);
  sql.OrderBy(http::ReadSort(query, kTableSorts, "name"))
      .Limit(page.paging.per_page, page.paging.offset());
  for (const Table& table : SelectTables(session, sql)) rows.Add(Render(table));

  db::ClauseBuilder count(R"sql(SELECT count(*) FROM dining_table t WHERE t.company_id = $1)sql",
                          {company});
  conditions.Narrow(count);
  page.total = session.GetInt(count);
  page.snapshot = http::SnapshotOf(query, LastTable(session, company));
  return page;
}

}  // namespace comanda::company
