#include "webhooks/list.h"

#include <array>
#include <optional>

#include "base/problem.h"
#include "webhooks/delivery.h"
#include "webhooks/store.h"
#include "webhooks/webhooks.h"

namespace comanda::webhooks {
namespace {

using http::ListFilter;
using http::ListSort;

constexpr auto kKindNames = [] {
  std::array<std::string_view, kKinds.size()> names{};
  for (size_t i = 0; i < names.size(); ++i) names[i] = kKinds[i].name;
  return names;
}();

constexpr std::array kFilters = {
    ListFilter{http::kSnapshotParameter, "w.created_seq <= {}", http::ReadSnapshot},
};
constexpr std::array kSorts = {
    ListSort{"created_at", "w.created_seq", "w.created_seq DESC"},
};
constexpr std::array kDeliveryFilters = {
    ListFilter{"filter[state]", "d.state IN ({})", http::ReadWords<kStateNames>},
    ListFilter{"filter[event_type]", "d.kind IN ({})", http::ReadWords<kKindNames>},
    ListFilter{"filter[subject_id]", "d.subject_id = {}", http::ReadUuid},
    ListFilter{"filter[outcome]", "d.outcome IN ({})", http::ReadWords<kOutcomeNames>},
    ListFilter{http::kSnapshotParameter, "d.number <= {}", http::ReadSnapshot},
};
// Events of one millisecond are listed in the order of the log, whichever was delivered first.
constexpr std::array kDeliverySorts = {
    ListSort{"created_at", "d.created_at, d.seq, d.number",
             "d.created_at DESC, d.seq DESC, d.number DESC"},
};

void AddRow(db::Session& session, db::CompanyId company, const Subscription& one,
            http::PageRows& rows, std::vector<std::string>& damage) try {
  rows.Add(Render(one, BehindOf(session, company, one)));
} catch (const Fault& fault) {
  if (fault.kind != Fault::Kind::kDamaged) throw;
  damage.push_back(fault.cause);
}

// The log is read once for all; where that meets damage, once for each, so that damage is the fault
// of the subscriptions that it concerns.
void AddRows(db::Session& session, db::CompanyId company, const std::vector<Subscription>& page,
             http::PageRows& rows, std::vector<std::string>& damage) {
  std::vector<Behind> behind;
  try {
    behind = BehindOf(session, company, page);
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged) throw;
    for (const Subscription& one : page) AddRow(session, company, one, rows, damage);
    return;
  }
  for (size_t i = 0; i < page.size(); ++i) rows.Add(Render(page[i], behind[i]));
}

}  // namespace

void RequireListParameters(const http::Query& query) {
  http::RequireListParameters(query, kFilters);
}

void RequireDeliveryParameters(const http::Query& query) {
  http::RequireListParameters(query, kDeliveryFilters);
}

http::ListPage FindPage(db::Session& session, db::CompanyId company, const http::Query& query,
                        http::PageRows& rows, std::vector<std::string>& damage) {
  const http::ListRequest request{session, company, query};
  const auto conditions = http::Conditions::Read(request, kFilters);
  http::ListPage page;
  page.paging = query.ReadPaging();
  db::ClauseBuilder sql = store::SubscriptionsOf(company);
  conditions.Narrow(sql);
  sql.OrderBy(http::ReadSort(query, kSorts, "-created_at"))
      .Limit(page.paging.per_page, page.paging.offset());
  const std::vector<Subscription> found = store::SelectPage(session, sql, damage);
  AddRows(session, company, found, rows, damage);
  db::ClauseBuilder count(R"sql(SELECT count(*) FROM webhook w WHERE w.company_id = $1)sql",
                          {company});
  conditions.Narrow(count);
  page.total = session.GetInt(count);
  page.snapshot = http::SnapshotOf(query, store::LastCreated(session, company));
  return page;
}

http::ListPage FindDeliveries(db::Session& session, db::CompanyId company,
                              std::string_view webhook_id, const http::Query& query,
                              bool shows_answers, http::PageRows& rows,
                              std::vector<std::string>& damage) {
  const http::ListRequest request{session, company, query};
  const auto conditions = http::Conditions::Read(request, kDeliveryFilters);
  http::ListPage page;
  page.paging = query.ReadPaging();
  db::ClauseBuilder sql = store::DeliveriesOf(company, webhook_id);
  conditions.Narrow(sql);
  sql.OrderBy(http::ReadSort(query, kDeliverySorts, "-created_at"))
      .Limit(page.paging.per_page, page.paging.offset());
  store::EachDelivery(session, sql, damage,
                      [&](const Delivery& delivery) { rows.Add(Render(delivery, shows_answers)); });
  db::ClauseBuilder count(R"sql(
      SELECT count(*) FROM webhook_delivery d WHERE d.company_id = $1 AND d.webhook_id = $2
      )sql",
                          {company, webhook_id});
  conditions.Narrow(count);
  page.total = session.GetInt(count);
  page.snapshot = http::SnapshotOf(query, store::LastNumber(session, company, webhook_id));
  return page;
}

}  // namespace comanda::webhooks
