#include "orders/list.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "company/companies.h"
#include "db/clause_builder.h"
#include "events/log.h"
#include "http/list.h"
#include "orders/orders.h"
#include "orders/store.h"

namespace comanda::orders {
namespace {

// -- filters --------------------------------------------------------------------------------------

using http::Conditions;
using http::Counted;
using http::ListFilter;
using http::ListRequest;
using http::Operand;
using http::Operands;

Operands ReadPublicId(const ListRequest& request, std::string_view name) {
  constexpr size_t kSize = 13;
  std::optional<std::string> key = NormalisedKey(request.Value(name));
  if (!key || key->size() != kSize) {
    throw http::MalformedFilter(name, "must be a public id, such as PE-7222853393.");
  }
  return {*std::move(key)};
}

// A comma list of channels. Those of other boxes and years are not known here, so any word is one.
Operands ReadSources(const ListRequest& request, std::string_view name) {
  const std::vector<std::string> words = request.query.ReadCapitals(name);
  return {words.begin(), words.end()};
}

constexpr ListFilter kStatusRow{"filter[status]", "o.status IN ({})",
                                http::ReadWordIndexes<kStatusNames>, Counted::kYes};
// The plus keeps the planner from walking the index of created_seq instead of the one that sorts.
constexpr ListFilter kSnapshotRow{http::kSnapshotParameter, "+o.created_seq <= {}",
                                  http::ReadSnapshot, Counted::kYes};
constexpr std::array kFilters = {
    kStatusRow,
    ListFilter{"filter[start_date]", "o.created_at >= {}", http::ReadStart},
    ListFilter{"filter[end_date]", "o.created_at < {}", http::ReadEnd},
    ListFilter{"filter[service_type]", "o.service_type IN ({})",
               http::ReadWordIndexes<kServiceTypeNames>},
    ListFilter{"filter[source]", "o.source IN ({})", ReadSources},
    ListFilter{"filter[client_id]", "o.client_id = {}", http::ReadUuid},
    ListFilter{"filter[table_id]", "o.table_id = {}", http::ReadUuid},
    ListFilter{"filter[reference]", "o.reference = {}", http::ReadText},
    ListFilter{"filter[public_id]", "o.public_id = {}", ReadPublicId},
    ListFilter{"filter[paid]", "o.paid = {}", http::ReadBoolean},
    ListFilter{"filter[delivery_status]", "o.delivery_status IN ({})",
               http::ReadWordIndexes<kDeliveryStatusNames>},
    ListFilter{"filter[updated_since]", "o.updated_at >= {}", http::ReadInstant},
    kSnapshotRow,
};

// The statuses that a filter names; none: all.
std::vector<Status> StatusesOf(const Conditions& conditions) {
  std::vector<Status> statuses;
  const Operands* words = conditions.Find(kStatusRow.parameter);
  if (!words) return statuses;
  for (const Operand& word : *words) {
    statuses.push_back(static_cast<Status>(std::get<int64_t>(word)));
  }
  return statuses;
}

// -- sorts ----------------------------------------------------------------------------------------

constexpr std::array kSorts = {
    http::ListSort{"created_at", "o.created_at, o.id", "o.created_at DESC, o.id DESC"},
    http::ListSort{"updated_at", "o.updated_at, o.id", "o.updated_at DESC, o.id DESC"},
    http::ListSort{"scheduled_delivery_date", "o.scheduled_delivery_date NULLS LAST, o.id",
                   "o.scheduled_delivery_date DESC NULLS LAST, o.id DESC"},
    http::ListSort{"total", "o.total, o.id", "o.total DESC, o.id DESC"},
    http::ListSort{"order_number", "o.order_number, o.id", "o.order_number DESC, o.id DESC"},
};

// -- which lists ----------------------------------------------------------------------------------

constexpr std::string_view kIncludeParameter = "filter[include]";
constexpr std::array<std::string_view, 4> kIncludeWords = {"none", "combos", "payments",
                                                           "discounts"};

Include ReadInclude(const http::Query& query) {
  if (!query.Find(kIncludeParameter)) return {};
  Include include{false, false, false};
  for (const size_t word : query.ReadWords(kIncludeParameter, kIncludeWords)) {
    if (word == 1) include.combos = true;
    if (word == 2) include.payments = true;
    if (word == 3) include.discounts = true;
  }
  return include;
}

// -- totals ---------------------------------------------------------------------------------------

// Orders placed after the snapshot; the index of created_seq holds all that is asked.
int64_t CountNewer(const ListRequest& request, int64_t snapshot, const Operands* statuses) {
  db::ClauseBuilder sql(
      "SELECT count(*) FROM orders o WHERE o.company_id = $1 AND o.created_seq > $2",
      {request.company, snapshot});
  if (statuses) sql.And(kStatusRow.clause, http::ToBound(*statuses));
  return http::Count(request.session, sql);
}

int64_t CountFromCounters(const ListRequest& request, const Conditions& conditions) {
  const int64_t total = CountOrders(request.session, request.company, StatusesOf(conditions));
  const Operands* snapshot = conditions.Find(kSnapshotRow.parameter);
  if (!snapshot) return total;
  return total - CountNewer(request, std::get<int64_t>(snapshot->front()),
                            conditions.Find(kStatusRow.parameter));
}

int64_t CountRows(const ListRequest& request, const Conditions& conditions) {
  db::ClauseBuilder sql("SELECT count(*) FROM orders o WHERE o.company_id = $1", {request.company});
  conditions.Narrow(sql);
  return http::Count(request.session, sql);
}

int64_t CountAll(const ListRequest& request, const Conditions& conditions) {
  return conditions.AllCounted() ? CountFromCounters(request, conditions)
                                 : CountRows(request, conditions);
}

// -- rows -----------------------------------------------------------------------------------------

// The planner cannot know how few orders are open, and would walk all that were ever placed to fill
// a page of them. Where the counters say few, a plus before the first sort key leaves it no other
// index than that of the status.
std::string OrderBy(const ListRequest& request, const Conditions& conditions) {
  constexpr int64_t kFew = 2000;
  const std::string clause(http::ReadSort(request.query, kSorts, "-created_at"));
  const std::vector<Status> statuses = StatusesOf(conditions);
  if (statuses.empty()) return clause;
  const bool few = CountOrders(request.session, request.company, statuses) <= kFew;
  return few ? "+" + clause : clause;
}

// Ids first, which stand in the index that sorts; then each record by its key.
std::vector<std::string> FindIds(const ListRequest& request, const Conditions& conditions,
                                 http::Paging paging) {
  db::ClauseBuilder sql("SELECT o.id FROM orders o WHERE o.company_id = $1", {request.company});
  conditions.Narrow(sql);
  sql.OrderBy(OrderBy(request, conditions)).Limit(paging.per_page, paging.offset());
  return http::FindIds(request.session, sql);
}

std::vector<std::string> FindRows(const ListRequest& request, const std::vector<std::string>& ids) {
  const Include include = ReadInclude(request.query);
  std::vector<std::string> records;
  records.reserve(ids.size());
  for (const std::string& id : ids) {
    std::optional<Record> record = Find(request.session, request.company, id, include);
    CHECK(record.has_value(), "every order has its rendered record");
    records.push_back(std::move(record->json));
  }
  return records;
}

}  // namespace

void RequireListParameters(const http::Query& query) {
  http::RequireListParameters(query, kFilters, std::array{kIncludeParameter});
}

Page FindPage(db::Session& session, db::CompanyId company, const http::Query& query) {
  const ListRequest request{session, company, query, company::FindZone};
  const Conditions conditions = Conditions::Read(request, kFilters);
  Page page;
  page.paging = query.ReadPaging();
  page.rows = FindRows(request, FindIds(request, conditions, page.paging));
  page.total = CountAll(request, conditions);
  page.snapshot = http::SnapshotOf(query, CurrentSeq(session, company));
  page.cursor = events::CurrentCursor(session, company);
  return page;
}

}  // namespace comanda::orders
