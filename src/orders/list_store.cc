#include "orders/list_store.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "base/problem.h"
#include "company/companies.h"
#include "db/clause_builder.h"
#include "orders/order.h"
#include "orders/orders.h"

namespace comanda::orders {
namespace {

using http::Conditions;
using http::ListFilter;
using http::ListRequest;
using http::Operand;
using http::Operands;

// Filters

Operands ReadPublicId(const ListRequest& request, std::string_view name) {
  constexpr size_t kSize = 13;
  std::optional<std::string> key = NormalisedKey(request.Value(name));
  if (!key || key->size() != kSize) {
    throw http::MalformedFilter(name, "must be a public id, such as PE-7222853393.");
  }
  return {*std::move(key)};
}

// A list of sources, separated by commas. Any word is accepted: the sources of other programs are
// not known here.
Operands ReadSources(const ListRequest& request, std::string_view name) {
  const std::vector<std::string> words = request.query.ReadCapitals(name);
  return {words.begin(), words.end()};
}

constexpr std::string_view kStatus = "filter[status]";
constexpr std::string_view kServiceType = "filter[service_type]";
constexpr std::string_view kSource = "filter[source]";
constexpr std::string_view kPaid = "filter[paid]";
constexpr std::string_view kDeliveryStatus = "filter[delivery_status]";
constexpr std::string_view kStartDate = "filter[start_date]";
constexpr std::string_view kEndDate = "filter[end_date]";
constexpr std::string_view kUpdatedSince = "filter[updated_since]";
constexpr std::string_view kClientId = "filter[client_id]";
constexpr std::string_view kTableId = "filter[table_id]";
constexpr std::string_view kReference = "filter[reference]";
constexpr std::string_view kPublicId = "filter[public_id]";

// The clauses of the filters, in a form that can use an index if there is one for the filter.
constexpr std::array kFilters = {
    ListFilter{kStatus,
               R"sql(o.facet IN (SELECT f.facet FROM order_facet AS f
                 WHERE f.company_id = $1 AND f.status IN ({})))sql",
               http::ReadWordIndexes<kStatusNames>},
    ListFilter{kStartDate, "o.created_at >= {}", http::ReadStart},
    ListFilter{kEndDate, "o.created_at < {}", http::ReadEnd},
    ListFilter{kServiceType,
               R"sql(o.facet IN (SELECT f.facet FROM order_facet AS f
                 WHERE f.company_id = $1 AND f.service_type IN ({})))sql",
               http::ReadWordIndexes<kServiceTypeNames>},
    ListFilter{kSource,
               R"sql(o.facet IN (SELECT f.facet FROM order_facet AS f
                 WHERE f.company_id = $1 AND f.source IN ({})))sql",
               ReadSources},
    ListFilter{kClientId, "o.client_id = {}", http::ReadUuid},
    ListFilter{kTableId, "o.table_id = {}", http::ReadUuid},
    ListFilter{kReference, "o.reference = {}", http::ReadText},
    ListFilter{kPublicId, "o.public_id = {}", ReadPublicId},
    ListFilter{kPaid,
               R"sql(o.facet IN (SELECT f.facet FROM order_facet AS f
                 WHERE f.company_id = $1 AND f.paid IN ({})))sql",
               http::ReadBoolean},
    ListFilter{kDeliveryStatus,
               R"sql(o.facet IN (SELECT f.facet FROM order_facet AS f
                 WHERE f.company_id = $1 AND f.delivery_status IN ({})))sql",
               http::ReadWordIndexes<kDeliveryStatusNames>},
    ListFilter{kUpdatedSince, "o.updated_at >= {}", http::ReadInstant},
    ListFilter{http::kSnapshotParameter, "o.created_seq + 0 <= {}", http::ReadSnapshot},
};

// The clause of a filter in another form than that of kFilters.
struct FilterClause {
  std::string_view parameter;
  db::Sql clause;
};
// The filters that are values of a facet, as clauses for the table of facets.
constexpr std::array kFacetFilters = {
    FilterClause{kStatus, "f.status IN ({})"},
    FilterClause{kServiceType, "f.service_type IN ({})"},
    FilterClause{kSource, "f.source IN ({})"},
    FilterClause{kPaid, "f.paid IN ({})"},
    FilterClause{kDeliveryStatus, "f.delivery_status IN ({})"},
};

// The clauses of the filters in a form that uses no index: for rows that another index has found.
constexpr std::array kUnindexedFilters = {
    FilterClause{kStartDate, "o.created_at + 0 >= {}"},
    FilterClause{kEndDate, "o.created_at + 0 < {}"},
    FilterClause{kUpdatedSince, "o.updated_at + 0 >= {}"},
    FilterClause{kClientId, "coalesce(o.client_id, '') = {}"},
    FilterClause{kTableId, "coalesce(o.table_id, '') = {}"},
};

template <size_t N>
std::optional<db::Sql> ClauseOf(const std::array<FilterClause, N>& filters,
                                std::string_view parameter) {
  const auto row = std::ranges::find(filters, parameter, &FilterClause::parameter);
  if (row == filters.end()) return std::nullopt;
  return row->clause;
}

// Sorts

enum Sort : size_t { kCreated, kUpdated, kScheduled, kTotal, kNumber };

// The ORDER BY clauses of a sort. `scanned` uses the index of the sort; `gathered` sorts the rows
// that were found, and `listed` those of a page (the sums in them keep SQLite from using the
// index). Nulls are last in both directions.
struct SortRow {
  db::Sql scanned[2];  // ascending, descending
  db::Sql gathered[2];
  db::Sql listed[2];
};
constexpr std::array<SortRow, 5> kSortRows = {{
    {{"o.created_at, o.id", "o.created_at DESC, o.id DESC"},
     {"o.created_at + 0, o.id", "o.created_at + 0 DESC, o.id DESC"},
     {"p.created_at + 0, p.id", "p.created_at + 0 DESC, p.id DESC"}},
    {{"o.updated_at, o.id", "o.updated_at DESC, o.id DESC"},
     {"o.updated_at + 0, o.id", "o.updated_at + 0 DESC, o.id DESC"},
     {"p.updated_at + 0, p.id", "p.updated_at + 0 DESC, p.id DESC"}},
    {{"o.scheduled_delivery_date NULLS LAST, o.id",
      "o.scheduled_delivery_date DESC NULLS LAST, o.id DESC"},
     {"o.scheduled_delivery_date + 0 NULLS LAST, o.id",
      "o.scheduled_delivery_date + 0 DESC NULLS LAST, o.id DESC"},
     {"p.scheduled_delivery_date + 0 NULLS LAST, p.id",
      "p.scheduled_delivery_date + 0 DESC NULLS LAST, p.id DESC"}},
    {{"o.total, o.id", "o.total DESC, o.id DESC"},
     {"o.total + 0, o.id", "o.total + 0 DESC, o.id DESC"},
     {"p.total + 0, p.id", "p.total + 0 DESC, p.id DESC"}},
    {{"o.order_number, o.id", "o.order_number DESC, o.id DESC"},
     {"o.order_number + 0, o.id", "o.order_number + 0 DESC, o.id DESC"},
     {"p.order_number + 0, p.id", "p.order_number + 0 DESC, p.id DESC"}},
}};

// Totals

bool OnlyFacets(const Conditions& conditions) {
  return std::ranges::all_of(kFilters, [&](const ListFilter& filter) {
    return !conditions.Find(filter.parameter) || filter.parameter == http::kSnapshotParameter ||
           ClauseOf(kFacetFilters, filter.parameter);
  });
}

// Without and with a snapshot: the second subtracts the orders created after it.
constexpr db::Sql kFacetTotal = R"sql(
    SELECT coalesce(sum(f.orders), 0) FROM order_facet AS f WHERE f.company_id = $1
    )sql";
constexpr db::Sql kFacetTotalOfSnapshot = R"sql(
    SELECT coalesce(sum(f.orders - coalesce(n.orders, 0)), 0)
    FROM order_facet AS f
    LEFT JOIN (
      SELECT o.facet AS facet, count(*) AS orders FROM orders AS o
      WHERE o.company_id = $1 AND o.created_seq > $2 GROUP BY o.facet
    ) AS n ON n.facet = f.facet
    WHERE f.company_id = $1
    )sql";

db::ClauseBuilder FacetTotal(db::CompanyId company, const Conditions& conditions) {
  const Operands* const snapshot = conditions.Find(http::kSnapshotParameter);
  db::ClauseBuilder sql = snapshot
                              ? db::ClauseBuilder(kFacetTotalOfSnapshot,
                                                  {company, std::get<int64_t>(snapshot->front())})
                              : db::ClauseBuilder(kFacetTotal, {company});
  for (const FilterClause& filter : kFacetFilters) {
    const Operands* const operands = conditions.Find(filter.parameter);
    if (operands) sql.And(filter.clause, http::ToBound(*operands));
  }
  return sql;
}

// Ways to read a page

// The maximum number of matches that are gathered and sorted for a page.
constexpr int64_t kGatheredMax = 4000;

// The index that finds the rows of a gathered page.
enum class FoundBy : uint8_t { kNone, kUnique, kClientOrTable, kOpenStatus, kUpdated, kCreated };

bool AllOpen(const Operands* statuses) {
  return statuses && std::ranges::all_of(*statuses, [](const Operand& status) {
           return std::get<int64_t>(status) < static_cast<int64_t>(Status::kFinalized);
         });
}

// The most selective index that the filters of the request can use.
FoundBy FindIndex(const Conditions& conditions) {
  if (conditions.Find(kReference) || conditions.Find(kPublicId)) return FoundBy::kUnique;
  if (conditions.Find(kClientId) || conditions.Find(kTableId)) return FoundBy::kClientOrTable;
  if (AllOpen(conditions.Find(kStatus))) return FoundBy::kOpenStatus;
  if (conditions.Find(kUpdatedSince)) return FoundBy::kUpdated;
  if (conditions.Find(kStartDate) || conditions.Find(kEndDate)) return FoundBy::kCreated;
  return FoundBy::kNone;
}

// True if the index that finds the rows returns them in the order of the sort.
bool IsSorted(FoundBy found_by, size_t sort) {
  if (found_by == FoundBy::kUpdated) return sort == kUpdated;
  return (found_by == FoundBy::kCreated || found_by == FoundBy::kClientOrTable) && sort == kCreated;
}

// Appends the clauses of all filters. Only those of `found_by` are in the form that uses an index.
void Narrow(db::ClauseBuilder& sql, const Conditions& conditions, FoundBy found_by) {
  const bool by_created = found_by == FoundBy::kCreated || found_by == FoundBy::kClientOrTable ||
                          found_by == FoundBy::kOpenStatus;
  for (const ListFilter& filter : kFilters) {
    const Operands* const operands = conditions.Find(filter.parameter);
    if (!operands || (filter.parameter == kStatus && found_by == FoundBy::kOpenStatus)) continue;
    const bool is_created = filter.parameter == kStartDate || filter.parameter == kEndDate;
    const bool is_client_or_table = filter.parameter == kClientId || filter.parameter == kTableId;
    const bool uses_index = (is_created && by_created) ||
                            (is_client_or_table && found_by == FoundBy::kClientOrTable) ||
                            (filter.parameter == kUpdatedSince && found_by == FoundBy::kUpdated);
    const auto test = uses_index ? std::nullopt : ClauseOf(kUnindexedFilters, filter.parameter);
    sql.And(test.value_or(filter.clause), http::ToBound(*operands));
  }
  if (found_by == FoundBy::kOpenStatus) {
    // A partial index contains the open orders. SQLite uses it only if the query has its condition.
    sql.And("o.status < 4 AND o.status IN ({})", http::ToBound(*conditions.Find(kStatus)));
  }
}
static_assert(static_cast<int>(Status::kFinalized) == 4);

// Selects where the records are stored, not the records: these are read later, for the rows of the
// page only.
constexpr db::Sql kScanned = R"sql(
    SELECT o.id, o.version, o.render_version, o.record_seq
    FROM orders AS o WHERE o.company_id = $1
    )sql";
constexpr db::Sql kGathered = R"sql(
    SELECT p.id, p.version, p.render_version, p.record_seq
    FROM orders AS p WHERE p.company_id = $1 AND p.id IN (
      SELECT o.id FROM orders AS o WHERE o.company_id = $1
    )sql";

std::optional<RecordLocation> ReadLocation(const auto& row) {
  try {
    return RecordLocation{.version = row.Int("version"),
                          .render_version = row.Int("render_version"),
                          .seq = row.OptionalInt("record_seq"),
                          .closed_at = {}};
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged) throw;
    return std::nullopt;
  }
}

template <const db::Sql& kBase>
void Read(db::Session& session, const db::ClauseBuilder& sql,
          const std::function<void(const ListedRow&)>& add) {
  auto found = session.Query<kBase>(sql);
  while (found.Next()) add({found.Text("id"), ReadLocation(found)});
}

}  // namespace

std::span<const ListFilter> ListFilters() { return kFilters; }

int64_t SelectPage(db::Session& session, db::CompanyId company, const ListQuestion& question,
                   const std::function<void(const ListedRow&)>& add) {
  const Conditions& conditions = question.conditions;
  const FoundBy index = FindIndex(conditions);
  int64_t total = 0;
  if (OnlyFacets(conditions)) {
    const db::ClauseBuilder sql = FacetTotal(company, conditions);
    total = session.GetInt(sql);
  } else {
    db::ClauseBuilder sql(R"sql(SELECT count(*) FROM orders AS o WHERE o.company_id = $1)sql",
                          {company});
    Narrow(sql, conditions, index);
    total = session.GetInt(sql);
  }
  const int64_t offset = question.paging.offset();
  // Limits the scan: it ends with the last match.
  const int64_t rows = std::min(question.paging.per_page, total - offset);
  if (rows <= 0) return total;

  const SortRow& sort = kSortRows[question.sort];
  const bool gathers = index != FoundBy::kNone && total <= kGatheredMax;
  if (gathers && !IsSorted(index, question.sort)) {
    db::ClauseBuilder sql(kGathered, {company});
    Narrow(sql, conditions, index);
    sql.OrderBy(sort.gathered[question.descending]).Limit(rows, offset);
    sql.EndSubquery(")").OrderBy(sort.listed[question.descending]);
    Read<kGathered>(session, sql, add);
  } else {
    db::ClauseBuilder sql(kScanned, {company});
    Narrow(sql, conditions, IsSorted(index, question.sort) ? index : FoundBy::kNone);
    sql.OrderBy(sort.scanned[question.descending]).Limit(rows, offset);
    Read<kScanned>(session, sql, add);
  }
  return total;
}

}  // namespace comanda::orders
