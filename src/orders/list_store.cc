#include "orders/list_store.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "base/problem.h"
#include "company/companies.h"
#include "company/day_filter.h"
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

// The days of start_date and end_date are cut as filter[day] says.
Days FindDays(const ListRequest& request) {
  const company::Company company = company::Get(request.session, request.company);
  return company::ReadDays(request.query, company, company::FindZone(company));
}

// The days of a filter that filter[day] does not concern.
Days FindCalendarDays(const ListRequest& request) {
  return {.zone = company::FindZone(company::Get(request.session, request.company))};
}

Operands ReadCalendarStart(const ListRequest& request, std::string_view name) {
  return {request.query.ReadDayOrInstant(name, FindCalendarDays(request), false)->instant};
}

Operands ReadCalendarEnd(const ListRequest& request, std::string_view name) {
  return {request.query.ReadDayOrInstant(name, FindCalendarDays(request), true)->instant};
}

Operands ReadNumber(const ListRequest& request, std::string_view name) {
  const std::optional<int64_t> number = FindNumber(request.Value(name));
  if (!number) throw http::MalformedFilter(name, "must be a whole number, such as 27.");
  return {*number};
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
constexpr std::string_view kOrderNumber = "filter[order_number]";
constexpr std::string_view kScheduledFrom = "filter[scheduled_from]";
constexpr std::string_view kScheduledTo = "filter[scheduled_to]";

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
    ListFilter{kOrderNumber, "o.order_number = {}", ReadNumber},
    ListFilter{kScheduledFrom, "o.scheduled_delivery_date >= {}", ReadCalendarStart},
    ListFilter{kScheduledTo, "o.scheduled_delivery_date < {}", ReadCalendarEnd},
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
    FilterClause{kOrderNumber, "o.order_number + 0 = {}"},
    FilterClause{kScheduledFrom, "o.scheduled_delivery_date + 0 >= {}"},
    FilterClause{kScheduledTo, "o.scheduled_delivery_date + 0 < {}"},
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
enum class FoundBy : uint8_t {
  kNone,
  kUnique,
  kNumber,
  kClientOrTable,
  kScheduled,
  kOpenStatus,
  kUpdated,
  kCreated,
};

bool AllOpen(const Operands* statuses) {
  return statuses && std::ranges::all_of(*statuses, [](const Operand& status) {
           return std::get<int64_t>(status) < static_cast<int64_t>(Status::kFinalized);
         });
}

// The most selective index that the filters of the request can use.
FoundBy FindIndex(const Conditions& conditions) {
  if (conditions.Find(kReference) || conditions.Find(kPublicId)) return FoundBy::kUnique;
  if (conditions.Find(kClientId) || conditions.Find(kTableId)) return FoundBy::kClientOrTable;
  if (conditions.Find(kOrderNumber)) return FoundBy::kNumber;
  if (conditions.Find(kScheduledFrom) || conditions.Find(kScheduledTo)) return FoundBy::kScheduled;
  if (AllOpen(conditions.Find(kStatus))) return FoundBy::kOpenStatus;
  if (conditions.Find(kUpdatedSince)) return FoundBy::kUpdated;
  if (conditions.Find(kStartDate) || conditions.Find(kEndDate)) return FoundBy::kCreated;
  return FoundBy::kNone;
}

// True if the index that finds the rows returns them in the order of the sort.
bool IsSorted(FoundBy found_by, size_t sort) {
  if (found_by == FoundBy::kUpdated) return sort == kUpdated;
  if (found_by == FoundBy::kNumber) return sort == kNumber;
  if (found_by == FoundBy::kScheduled) return sort == kScheduled;
  return (found_by == FoundBy::kCreated || found_by == FoundBy::kClientOrTable) && sort == kCreated;
}

// True if that index has the column of the filter.
bool UsesIndex(FoundBy found_by, std::string_view parameter) {
  if (parameter == kStartDate || parameter == kEndDate) {
    return found_by == FoundBy::kCreated || found_by == FoundBy::kClientOrTable ||
           found_by == FoundBy::kOpenStatus;
  }
  if (parameter == kClientId || parameter == kTableId) return found_by == FoundBy::kClientOrTable;
  if (parameter == kOrderNumber) return found_by == FoundBy::kNumber;
  if (parameter == kScheduledFrom || parameter == kScheduledTo) {
    return found_by == FoundBy::kScheduled;
  }
  return parameter == kUpdatedSince && found_by == FoundBy::kUpdated;
}

// Appends the clauses of all filters. Only those of `found_by` are in the form that uses an index.
void Narrow(db::ClauseBuilder& sql, const Conditions& conditions, FoundBy found_by) {
  for (const ListFilter& filter : kFilters) {
    const Operands* const operands = conditions.Find(filter.parameter);
    if (!operands || (filter.parameter == kStatus && found_by == FoundBy::kOpenStatus)) continue;
    const bool uses_index = UsesIndex(found_by, filter.parameter);
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

Conditions ReadConditions(db::Session& session, db::CompanyId company, const http::Query& query) {
  Conditions conditions = Conditions::Read({session, company, query, FindDays}, kFilters);
  const auto is_day = [&](std::string_view name) {
    const auto value = query.Find(name);
    return value && ParseDay(*value);
  };
  if (query.Find(company::kDayParameter) && !is_day(kStartDate) && !is_day(kEndDate)) {
    throw http::MalformedFilter(
        company::kDayParameter,
        "says how days are cut: send a day in filter[start_date] or filter[end_date] beside it.");
  }
  return conditions;
}

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

namespace {

// Search

constexpr db::Sql kFound = R"sql(
    SELECT o.id, o.version, o.render_version, o.record_seq, o.order_title, o.created_at,
      o.updated_at, o.scheduled_delivery_date, o.total, o.order_number
    FROM orders AS o WHERE o.company_id = $1
    )sql";

struct FoundRow {
  ListedRow row;
  std::optional<int64_t> key;  // the value that the page is sorted by
};

std::optional<int64_t> ReadKey(const auto& row, size_t sort) {
  switch (static_cast<Sort>(sort)) {
    case kCreated:
      return row.Int("created_at");
    case kUpdated:
      return row.Int("updated_at");
    case kScheduled:
      return row.OptionalInt("scheduled_delivery_date");
    case kTotal:
      return row.Int("total");
    case kNumber:
      return row.Int("order_number");
  }
  return std::nullopt;
}

// The orders that the search finds, by id.
class Finder {
 public:
  Finder(db::Session& session, db::CompanyId company, const ListQuestion& question)
      : session_(session), company_(company), question_(question) {}

  // Adds the orders that the filters, in a form that uses that index, and the clause select; with
  // words, only those whose title has them.
  void Add(FoundBy found_by, db::Sql clause, db::Bound value,
           const std::vector<clients::Term>* words = nullptr) {
    db::ClauseBuilder sql(kFound, {company_});
    Narrow(sql, question_.conditions, found_by);
    sql.And(clause, value);
    auto rows = session_.Query<kFound>(sql);
    while (rows.Next()) {
      if (words && !HasWords(rows.View("order_title"), *words)) continue;
      std::string id = rows.Text("id");
      found_.try_emplace(
          id, FoundRow{.row = {id, ReadLocation(rows)}, .key = ReadKey(rows, question_.sort)});
    }
  }

  std::vector<FoundRow> Sorted() const {
    std::vector<FoundRow> sorted;
    for (const auto& [id, row] : found_) sorted.push_back(row);  // by id
    if (question_.descending) std::ranges::reverse(sorted);
    std::ranges::stable_sort(sorted, [&](const FoundRow& a, const FoundRow& b) {
      if (!a.key || !b.key) return a.key.has_value() && !b.key;
      return question_.descending ? *b.key < *a.key : *a.key < *b.key;
    });
    return sorted;
  }

 private:
  db::Session& session_;
  const db::CompanyId company_;
  const ListQuestion& question_;
  std::map<std::string, FoundRow> found_;
};

// Where the titles that are read begin: at filter[start_date], else some days before the end.
UtcMs TitlesFrom(const Conditions& conditions, UtcMs now) {
  if (const Operands* const start = conditions.Find(kStartDate)) {
    return std::get<int64_t>(start->front());
  }
  const Operands* const end = conditions.Find(kEndDate);
  return (end ? std::get<int64_t>(end->front()) : now) - kSearchedTitlesMs;
}

}  // namespace

int64_t SelectFound(db::Session& session, db::CompanyId company, const ListQuestion& question,
                    const Search& search, UtcMs now,
                    const std::function<void(const ListedRow&)>& add) {
  Finder finder(session, company, question);
  if (search.number) finder.Add(FoundBy::kNone, "o.order_number = {}", *search.number);
  if (search.id) finder.Add(FoundBy::kNone, "o.id = {}", *search.id);
  for (const std::string& client : search.client_ids) {
    finder.Add(FoundBy::kNone, "o.client_id = {}", client);
  }
  finder.Add(FoundBy::kCreated, "o.order_title IS NOT NULL AND o.created_at >= {}",
             TitlesFrom(question.conditions, now), &search.title_words);

  const std::vector<FoundRow> found = finder.Sorted();
  const auto total = static_cast<int64_t>(found.size());
  const int64_t begin = std::min(question.paging.offset(), total);
  const int64_t end = std::min(begin + question.paging.per_page, total);
  for (int64_t i = begin; i < end; ++i) add(found[static_cast<size_t>(i)].row);
  return total;
}

}  // namespace comanda::orders
