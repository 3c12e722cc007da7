#include "orders/list_store.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/problem.h"
#include "company/companies.h"
#include "company/day_filter.h"
#include "db/clause_builder.h"
#include "events/log.h"
#include "events/row.h"
#include "orders/order.h"
#include "orders/orders.h"
#include "orders/stored_record.h"

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

// A snapshot leaves out what was created since.
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
    ListFilter{http::kSnapshotParameter, "o.created_seq <= {}", http::ReadSnapshot},
};

// The filters that are values of a facet, as clauses for the table of facets.
struct FacetFilter {
  std::string_view parameter;
  db::Sql clause;
};
constexpr std::array kFacetFilters = {
    FacetFilter{kStatus, "f.status IN ({})"},
    FacetFilter{kServiceType, "f.service_type IN ({})"},
    FacetFilter{kSource, "f.source IN ({})"},
    FacetFilter{kPaid, "f.paid IN ({})"},
    FacetFilter{kDeliveryStatus, "f.delivery_status IN ({})"},
};

// Sorts

enum Sort : size_t { kCreated, kUpdated, kScheduled, kTotal, kNumber };

struct SortClauses {
  db::Sql ascending, descending;
};
// By the numbers of Sort. Nulls are last in both directions; orders with the same value are in the
// order of their ids.
constexpr std::array<SortClauses, 5> kSortClauses = {{
    {"o.created_at, o.id", "o.created_at DESC, o.id DESC"},
    {"o.updated_at, o.id", "o.updated_at DESC, o.id DESC"},
    {"o.scheduled_delivery_date NULLS LAST, o.id",
     "o.scheduled_delivery_date DESC NULLS LAST, o.id DESC"},
    {"o.total, o.id", "o.total DESC, o.id DESC"},
    {"o.order_number, o.id", "o.order_number DESC, o.id DESC"},
}};

db::Sql SortOf(const ListQuestion& question) {
  const SortClauses& clauses = kSortClauses[question.sort];
  return question.descending ? clauses.descending : clauses.ascending;
}

// What an order is sorted by.
struct SortKey {
  std::optional<int64_t> value;
  std::string id;
};

std::optional<int64_t> ReadSortValue(const auto& row, size_t sort) {
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

// The order that kSortClauses say.
class Precedes {
 public:
  explicit Precedes(bool descending) : descending_(descending) {}

  bool operator()(const SortKey& a, const SortKey& b) const {
    if (a.value.has_value() != b.value.has_value()) return a.value.has_value();
    const SortKey& first = descending_ ? b : a;
    const SortKey& second = descending_ ? a : b;
    return std::tie(first.value, first.id) < std::tie(second.value, second.id);
  }

 private:
  bool descending_;
};

// Totals

bool OnlyFacets(const Conditions& conditions) {
  return std::ranges::all_of(kFilters, [&](const ListFilter& filter) {
    return !conditions.Find(filter.parameter) || filter.parameter == http::kSnapshotParameter ||
           std::ranges::find(kFacetFilters, filter.parameter, &FacetFilter::parameter) !=
               kFacetFilters.end();
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
  for (const FacetFilter& filter : kFacetFilters) {
    const Operands* const operands = conditions.Find(filter.parameter);
    if (operands) sql.And(filter.clause, http::ToBound(*operands));
  }
  return sql;
}

bool AllOpen(const Conditions& conditions) {
  const Operands* const statuses = conditions.Find(kStatus);
  return statuses && std::ranges::all_of(*statuses, [](const Operand& status) {
           return std::get<int64_t>(status) < static_cast<int64_t>(Status::kFinalized);
         });
}

// Appends the clauses of all filters.
void Narrow(db::ClauseBuilder& sql, const Conditions& conditions) {
  conditions.Narrow(sql);
  // Open orders have an index of their own.
  if (AllOpen(conditions)) sql.And("o.status < 4");
}
static_assert(static_cast<int>(Status::kFinalized) == 4);

int64_t CountMatches(db::Session& session, db::CompanyId company, const Conditions& conditions) {
  if (OnlyFacets(conditions)) {
    const db::ClauseBuilder sql = FacetTotal(company, conditions);
    return session.GetInt(sql);
  }
  db::ClauseBuilder sql(R"sql(SELECT count(*) FROM orders AS o WHERE o.company_id = $1)sql",
                        {company});
  Narrow(sql, conditions);
  return session.GetInt(sql);
}

// Pages

// The maximum number of matches that are gathered and sorted for a page.
constexpr int64_t kGatheredMax = 4000;

// The row of an order is read where the page is found, and only its record is joined: another
// search for the order by its id would cost a tenth of a page.
constexpr db::Sql kScanned = R"sql(
    SELECT page.id, page.version, page.render_version, page.record_seq, page.created_at,
      page.updated_at, page.scheduled_delivery_date, page.total, page.order_number,
      e.seq, e.epoch, e.event_id, e.type, e.changes, e.subject_type, e.subject_id,
      e.subject_version, e.at, e.body, e.note, e.checksum
    FROM (
      SELECT o.id, o.version, o.render_version, o.record_seq, o.created_at, o.updated_at,
        o.scheduled_delivery_date, o.total, o.order_number
      FROM orders AS o WHERE o.company_id = $1
    )sql";
constexpr db::Sql kGathered = R"sql(
    SELECT page.id, page.version, page.render_version, page.record_seq, page.created_at,
      page.updated_at, page.scheduled_delivery_date, page.total, page.order_number,
      e.seq, e.epoch, e.event_id, e.type, e.changes, e.subject_type, e.subject_id,
      e.subject_version, e.at, e.body, e.note, e.checksum
    FROM (
      WITH o AS MATERIALIZED (
        SELECT o.id, o.version, o.render_version, o.record_seq, o.created_at, o.updated_at,
          o.scheduled_delivery_date, o.total, o.order_number
        FROM orders AS o WHERE o.company_id = $1
    )sql";
// The rows of a page without their records.
constexpr db::Sql kAlone = R"sql(
    SELECT o.id, o.version, o.render_version, o.record_seq, o.created_at, o.updated_at,
      o.scheduled_delivery_date, o.total, o.order_number
    FROM orders AS o WHERE o.company_id = $1
    )sql";

// What follows the conditions of kGathered.
void EndGathered(db::ClauseBuilder& sql) {
  sql.EndSubquery(R"sql()
      SELECT o.id, o.version, o.render_version, o.record_seq, o.created_at, o.updated_at,
        o.scheduled_delivery_date, o.total, o.order_number
      FROM o
    )sql");
}

// What follows those of kScanned, and EndGathered().
void EndPage(db::ClauseBuilder& sql, const ListQuestion& question, int64_t limit, int64_t offset) {
  sql.OrderBy(SortOf(question)).Limit(limit, offset).EndSubquery(R"sql(
    ) AS page
    LEFT JOIN event AS e ON e.company_id = $1 AND e.seq = page.record_seq
    )sql");
}

// Reads the rows of a page, and puts each in its place.
class PageReader {
 public:
  // `rows`: those of the page.
  PageReader(db::Session& session, db::CompanyId company, const ListQuestion& question,
             int64_t rows, const PutRow& put)
      : session_(session),
        company_(company),
        sort_(question.sort),
        precedes_(question.descending),
        rows_(static_cast<size_t>(rows)),
        put_(put) {}

  // False where the statement met damage. Rows before it may have been put.
  template <const db::Sql& kBase>
  bool Read(const db::ClauseBuilder& sql);
  // Reads the rows that Read() has not put, and their records one by one, so that damage is the
  // fault of one row.
  void ReadEach(const db::ClauseBuilder& sql);

 private:
  void Describe(const auto& row, ListedRow& listed, SortKey& key) const;
  void Put(ListedRow& row, SortKey key);
  bool WasPut(std::string_view id) const;

  db::Session& session_;
  const db::CompanyId company_;
  const size_t sort_;
  const Precedes precedes_;
  const size_t rows_;
  const PutRow& put_;
  std::vector<SortKey> on_page_;     // sorted
  std::vector<std::string> lacked_;  // the ids of rows that were put, and that the page lacks
};

void PageReader::Describe(const auto& row, ListedRow& listed, SortKey& key) const {
  listed.id = row.Text("id");
  try {
    key = {ReadSortValue(row, sort_), listed.id};
    listed.location = {.version = row.Int("version"),
                       .render_version = row.Int("render_version"),
                       .seq = row.OptionalInt("record_seq"),
                       .closed_at = {}};
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged) throw;
  }
}

void PageReader::Put(ListedRow& row, SortKey key) {
  const auto place = std::ranges::upper_bound(on_page_, key, precedes_);
  row.place = static_cast<size_t>(place - on_page_.begin());
  row.page_rows = rows_;
  if (put_(row)) {
    on_page_.insert(place, std::move(key));
  } else {
    lacked_.push_back(std::move(row.id));
  }
}

bool PageReader::WasPut(std::string_view id) const {
  return std::ranges::find(on_page_, id, &SortKey::id) != on_page_.end() ||
         std::ranges::find(lacked_, id) != lacked_.end();
}

template <const db::Sql& kBase>
bool PageReader::Read(const db::ClauseBuilder& sql) try {
  auto rows = session_.Query<kBase>(sql);
  while (rows.Next()) {
    ListedRow row;
    SortKey key;
    Describe(rows, row, key);
    if (row.location && IsStored(*row.location)) {
      row.record = events::FindBody(session_, company_, rows, row.id, row.location->version);
    }
    Put(row, std::move(key));
  }
  return true;
} catch (const Fault& fault) {
  if (fault.kind != Fault::Kind::kDamaged) throw;
  return false;
}

void PageReader::ReadEach(const db::ClauseBuilder& sql) {
  auto rows = session_.Query<kAlone>(sql);
  while (rows.Next()) {
    ListedRow row;
    SortKey key;
    Describe(rows, row, key);
    if (WasPut(row.id)) continue;
    std::string record;
    try {
      const auto use = [&](std::string_view body) { record = body; };
      if (row.location && IsStored(*row.location) &&
          events::UseRecordAt(session_, company_, *row.location->seq, row.id, row.location->version,
                              use)) {
        row.record = record;
      }
    } catch (const Fault& fault) {
      if (fault.kind != Fault::Kind::kDamaged) throw;
      row.location.reset();
    }
    Put(row, std::move(key));
  }
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
                   const PutRow& put) {
  const Conditions& conditions = question.conditions;
  const int64_t total = CountMatches(session, company, conditions);
  const int64_t offset = question.paging.offset();
  // Limits the scan: it ends with the last match.
  const int64_t limit = std::min(question.paging.per_page, total - offset);
  if (limit <= 0) return total;

  PageReader page(session, company, question, limit, put);
  const auto begin = [&](db::Sql base) {
    db::ClauseBuilder sql(base, {company});
    Narrow(sql, conditions);
    return sql;
  };
  // Every other filter has an index.
  const bool has_index = !OnlyFacets(conditions) || AllOpen(conditions);
  bool was_read = false;
  if (has_index && total <= kGatheredMax) {
    db::ClauseBuilder sql = begin(kGathered);
    EndGathered(sql);
    EndPage(sql, question, limit, offset);
    was_read = page.Read<kGathered>(sql);
  } else {
    db::ClauseBuilder sql = begin(kScanned);
    EndPage(sql, question, limit, offset);
    was_read = page.Read<kScanned>(sql);
  }
  if (!was_read) page.ReadEach(begin(kAlone).OrderBy(SortOf(question)).Limit(limit, offset));
  return total;
}

namespace {

// Search

constexpr db::Sql kFound = R"sql(
    SELECT o.id, o.order_title, o.created_at, o.updated_at, o.scheduled_delivery_date, o.total,
      o.order_number
    FROM orders AS o WHERE o.company_id = $1
    )sql";

// The orders that the search finds.
class Finder {
 public:
  Finder(db::Session& session, db::CompanyId company, const ListQuestion& question)
      : session_(session), company_(company), question_(question) {}

  // Adds the orders that the filters and the clause select; with words, only those whose title has
  // them.
  void Add(db::Sql clause, const std::vector<db::Bound>& values,
           const std::vector<clients::Term>* words = nullptr) {
    db::ClauseBuilder sql(kFound, {company_});
    Narrow(sql, question_.conditions);
    sql.And(clause, values);
    auto rows = session_.Query<kFound>(sql);
    while (rows.Next()) {
      if (words && !HasWords(rows.View("order_title"), *words)) continue;
      found_.insert({ReadSortValue(rows, question_.sort), rows.Text("id")});
    }
  }

  // In the order of the list.
  const std::set<SortKey, Precedes>& found() const { return found_; }

 private:
  db::Session& session_;
  const db::CompanyId company_;
  const ListQuestion& question_;
  std::set<SortKey, Precedes> found_{Precedes(question_.descending)};
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
                    const Search& search, UtcMs now, const PutRow& put) {
  Finder finder(session, company, question);
  if (search.number) finder.Add("o.order_number = {}", {*search.number});
  if (search.id) finder.Add("o.id = {}", {*search.id});
  if (!search.client_ids.empty()) {
    finder.Add("o.client_id IN ({})", {search.client_ids.begin(), search.client_ids.end()});
  }
  finder.Add("o.order_title IS NOT NULL AND o.created_at >= {}",
             {TitlesFrom(question.conditions, now)}, &search.title_words);

  const auto total = static_cast<int64_t>(finder.found().size());
  const int64_t offset = question.paging.offset();
  const int64_t limit = std::min(question.paging.per_page, total - offset);
  if (limit <= 0) return total;
  std::vector<db::Bound> ids;
  for (auto key = std::next(finder.found().begin(), offset); std::ssize(ids) < limit; ++key) {
    ids.emplace_back(key->id);
  }
  PageReader page(session, company, question, limit, put);
  db::ClauseBuilder sql(kGathered, {company});
  sql.And("o.id IN ({})", ids);
  EndGathered(sql);
  EndPage(sql, question, limit, 0);
  if (!page.Read<kGathered>(sql)) {
    page.ReadEach(db::ClauseBuilder(kAlone, {company}).And("o.id IN ({})", ids));
  }
  return total;
}

}  // namespace comanda::orders
