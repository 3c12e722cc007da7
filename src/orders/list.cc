#include "orders/list.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/problem.h"
#include "base/zone.h"
#include "company/companies.h"
#include "db/clause_builder.h"
#include "events/log.h"
#include "orders/orders.h"
#include "orders/store.h"

namespace comanda::orders {
namespace {

// -- filters
// -----------------------------------------------------------------------------------------

using Operand = std::variant<int64_t, std::string>;
using Operands = std::vector<Operand>;

// The query of one request, with what its values may need.
struct Reading {
  db::Session& session;
  db::CompanyId company;
  const http::Query& query;

  std::string_view Value(std::string_view name) const { return *query.Find(name); }
};

Refusal Malformed(std::string_view name, std::string message) {
  return Refusal(Problem::kInvalidParameter, std::string(name) + ": " + message,
                 {{std::string(name), FieldCode::kInvalidFormat, message}});
}

template <const auto& kNames>
Operands ReadWords(const Reading& reading, std::string_view name) {
  Operands operands;
  for (const size_t index : reading.query.ReadWords(name, kNames)) {
    operands.emplace_back(static_cast<int64_t>(index));
  }
  return operands;
}

Zone CompanyZone(const Reading& reading) {
  const std::string name = company::Get(reading.session, reading.company).timezone;
  std::optional<Zone> zone = Zone::Find(name);
  if (!zone) {
    throw Fault(Fault::Kind::kInternal, "this system has no time zone data for " + name);
  }
  return *std::move(zone);
}

Operands ReadStart(const Reading& reading, std::string_view name) {
  return {reading.query.ReadDayOrInstant(name, CompanyZone(reading), false)->instant};
}

// The first instant that is left out: of a day the next day's, of an instant the next millisecond.
Operands ReadEnd(const Reading& reading, std::string_view name) {
  const auto end = reading.query.ReadDayOrInstant(name, CompanyZone(reading), true);
  return {end->exclusive ? end->instant : end->instant + 1};
}

Operands ReadInstant(const Reading& reading, std::string_view name) {
  return {*reading.query.ReadInstant(name)};
}

Operands ReadUuid(const Reading& reading, std::string_view name) {
  return {*reading.query.ReadUuid(name)};
}

Operands ReadBoolean(const Reading& reading, std::string_view name) {
  return {int64_t{*reading.query.ReadBoolean(name)}};
}

Operands ReadText(const Reading& reading, std::string_view name) {
  return {std::string(reading.Value(name))};
}

Operands ReadPublicId(const Reading& reading, std::string_view name) {
  constexpr size_t kSize = 13;
  std::optional<std::string> key = NormalisedKey(reading.Value(name));
  if (!key || key->size() != kSize) {
    throw Malformed(name, "must be a public id, such as PE-7222853393.");
  }
  return {*std::move(key)};
}

// A comma list of channels. Those of other boxes and years are not known here, so any word is one.
Operands ReadSources(const Reading& reading, std::string_view name) {
  Operands sources(1, std::string());
  for (const char c : reading.Value(name)) {
    if (c == ',') {
      sources.emplace_back(std::string());
    } else {
      std::get<std::string>(sources.back()) +=
          c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
  }
  return sources;
}

Operands ReadSnapshot(const Reading& reading, std::string_view name) {
  const std::string_view text = reading.Value(name);
  int64_t seq = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seq);
  if (error != std::errc() || end != text.data() + text.size() || seq < 0) {
    throw Malformed(name, "must be the X-Snapshot of page 1, as it came.");
  }
  return {seq};
}

// Whether a row's total can be had from the counters.
enum class Counted : uint8_t { kNo, kYes };

struct FilterRow {
  std::string_view parameter;
  std::string_view clause;  // {} is the value, or the values
  Operands (*read)(const Reading&, std::string_view);
  Counted counted = Counted::kNo;
};
constexpr FilterRow kStatusRow{"filter[status]", "o.status IN ({})", ReadWords<kStatusNames>,
                               Counted::kYes};
// The plus keeps the planner from walking the index of created_seq instead of the one that sorts.
constexpr FilterRow kSnapshotRow{"filter[snapshot]", "+o.created_seq <= {}", ReadSnapshot,
                                 Counted::kYes};
constexpr std::array kFilters = {
    kStatusRow,
    FilterRow{"filter[start_date]", "o.created_at >= {}", ReadStart},
    FilterRow{"filter[end_date]", "o.created_at < {}", ReadEnd},
    FilterRow{"filter[service_type]", "o.service_type IN ({})", ReadWords<kServiceTypeNames>},
    FilterRow{"filter[source]", "o.source IN ({})", ReadSources},
    FilterRow{"filter[client_id]", "o.client_id = {}", ReadUuid},
    FilterRow{"filter[table_id]", "o.table_id = {}", ReadUuid},
    FilterRow{"filter[reference]", "o.reference = {}", ReadText},
    FilterRow{"filter[public_id]", "o.public_id = {}", ReadPublicId},
    FilterRow{"filter[paid]", "o.paid = {}", ReadBoolean},
    FilterRow{"filter[delivery_status]", "o.delivery_status IN ({})",
              ReadWords<kDeliveryStatusNames>},
    FilterRow{"filter[updated_since]", "o.updated_at >= {}", ReadInstant},
    kSnapshotRow,
};

struct Condition {
  const FilterRow* row;
  Operands operands;
};

std::vector<Condition> ReadConditions(const Reading& reading) {
  std::vector<Condition> conditions;
  for (const FilterRow& row : kFilters) {
    if (!reading.query.Find(row.parameter)) continue;
    conditions.push_back({&row, row.read(reading, row.parameter)});
  }
  return conditions;
}

const Operands* FindOperands(const std::vector<Condition>& conditions, const FilterRow& row) {
  for (const Condition& condition : conditions) {
    if (condition.row->parameter == row.parameter) return &condition.operands;
  }
  return nullptr;
}

// The statuses that a filter names; none: all.
std::vector<Status> StatusesOf(const std::vector<Condition>& conditions) {
  std::vector<Status> statuses;
  const Operands* words = FindOperands(conditions, kStatusRow);
  if (!words) return statuses;
  for (const Operand& word : *words) {
    statuses.push_back(static_cast<Status>(std::get<int64_t>(word)));
  }
  return statuses;
}

db::Bound ToBound(const Operand& operand) {
  if (const auto* number = std::get_if<int64_t>(&operand)) return *number;
  return std::get<std::string>(operand);
}

std::vector<db::Bound> ToBound(const Operands& operands) {
  std::vector<db::Bound> bound;
  for (const Operand& operand : operands) bound.push_back(ToBound(operand));
  return bound;
}

void Narrow(db::ClauseBuilder& sql, const std::vector<Condition>& conditions) {
  for (const Condition& condition : conditions) {
    sql.And(condition.row->clause, ToBound(condition.operands));
  }
}

// -- sorts
// -------------------------------------------------------------------------------------------

struct SortRow {
  std::string_view field;
  std::string_view ascending, descending;
};
constexpr std::array kSorts = {
    SortRow{"created_at", "o.created_at, o.id", "o.created_at DESC, o.id DESC"},
    SortRow{"updated_at", "o.updated_at, o.id", "o.updated_at DESC, o.id DESC"},
    SortRow{"scheduled_delivery_date", "o.scheduled_delivery_date NULLS LAST, o.id",
            "o.scheduled_delivery_date DESC NULLS LAST, o.id DESC"},
    SortRow{"total", "o.total, o.id", "o.total DESC, o.id DESC"},
    SortRow{"order_number", "o.order_number, o.id", "o.order_number DESC, o.id DESC"},
};

std::string_view ReadSort(const http::Query& query) {
  std::array<std::string_view, kSorts.size()> fields;
  std::ranges::transform(kSorts, fields.begin(), &SortRow::field);
  const http::Sort sort = query.ReadSort(fields, "-created_at");
  const SortRow& row = kSorts[sort.index];
  return sort.descending ? row.descending : row.ascending;
}

// -- which lists
// -------------------------------------------------------------------------------------

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

// -- totals
// ------------------------------------------------------------------------------------------

// Orders placed after the snapshot; the index of created_seq holds all that is asked.
int64_t CountNewer(const Reading& reading, int64_t snapshot, const Operands* statuses) {
  db::ClauseBuilder sql(
      "SELECT count(*) FROM orders o WHERE o.company_id = $1 AND o.created_seq > $2",
      {reading.company, snapshot});
  if (statuses) sql.And(kStatusRow.clause, ToBound(*statuses));
  db::Rows rows = reading.session.QueryBound(sql.sql(), sql.values());
  return rows.Next() ? rows.Int(0) : 0;
}

int64_t CountFromCounters(const Reading& reading, const std::vector<Condition>& conditions) {
  const int64_t total = CountOrders(reading.session, reading.company, StatusesOf(conditions));
  const Operands* snapshot = FindOperands(conditions, kSnapshotRow);
  if (!snapshot) return total;
  return total - CountNewer(reading, std::get<int64_t>(snapshot->front()),
                            FindOperands(conditions, kStatusRow));
}

int64_t CountRows(const Reading& reading, const std::vector<Condition>& conditions) {
  db::ClauseBuilder sql("SELECT count(*) FROM orders o WHERE o.company_id = $1", {reading.company});
  Narrow(sql, conditions);
  db::Rows rows = reading.session.QueryBound(sql.sql(), sql.values());
  return rows.Next() ? rows.Int(0) : 0;
}

int64_t CountAll(const Reading& reading, const std::vector<Condition>& conditions) {
  const bool counted = std::ranges::all_of(conditions, [](const Condition& condition) {
    return condition.row->counted == Counted::kYes;
  });
  return counted ? CountFromCounters(reading, conditions) : CountRows(reading, conditions);
}

// -- rows
// --------------------------------------------------------------------------------------------

// The planner cannot know how few orders are open, and would walk all that were ever placed to fill
// a page of them. Where the counters say few, a plus before the first sort key leaves it no other
// index than that of the status.
std::string OrderBy(const Reading& reading, const std::vector<Condition>& conditions) {
  constexpr int64_t kFew = 2000;
  const std::string clause(ReadSort(reading.query));
  const std::vector<Status> statuses = StatusesOf(conditions);
  if (statuses.empty()) return clause;
  const bool few = CountOrders(reading.session, reading.company, statuses) <= kFew;
  return few ? "+" + clause : clause;
}

// Ids first, which stand in the index that sorts; then each record by its key.
std::vector<std::string> FindIds(const Reading& reading, const std::vector<Condition>& conditions,
                                 http::Paging paging) {
  db::ClauseBuilder sql("SELECT o.id FROM orders o WHERE o.company_id = $1", {reading.company});
  Narrow(sql, conditions);
  sql.OrderBy(OrderBy(reading, conditions)).Limit(paging.per_page, paging.offset());
  db::Rows rows = reading.session.QueryBound(sql.sql(), sql.values());
  std::vector<std::string> ids;
  while (rows.Next()) ids.push_back(rows.Text(0));
  return ids;
}

std::vector<std::string> FindRows(const Reading& reading, const std::vector<std::string>& ids) {
  const Include include = ReadInclude(reading.query);
  std::vector<std::string> records;
  records.reserve(ids.size());
  for (const std::string& id : ids) {
    std::optional<Record> record = Find(reading.session, reading.company, id, include);
    CHECK(record.has_value(), "every order has its rendered record");
    records.push_back(std::move(record->json));
  }
  return records;
}

std::string SnapshotOf(const Reading& reading, const std::vector<Condition>& conditions) {
  if (const Operands* given = FindOperands(conditions, kSnapshotRow)) {
    return std::to_string(std::get<int64_t>(given->front()));
  }
  return std::to_string(CurrentSeq(reading.session, reading.company));
}

}  // namespace

void RequireListParameters(const http::Query& query) {
  constexpr std::array<std::string_view, 4> kOthers = {"page", "per_page", "sort",
                                                       kIncludeParameter};
  std::array<std::string_view, kFilters.size() + kOthers.size()> names;
  const auto rest = std::ranges::transform(kFilters, names.begin(), &FilterRow::parameter).out;
  std::ranges::copy(kOthers, rest);
  query.AllowOnly(names);
}

Page FindPage(db::Session& session, db::CompanyId company, const http::Query& query) {
  const Reading reading{session, company, query};
  const std::vector<Condition> conditions = ReadConditions(reading);
  Page page;
  page.paging = query.ReadPaging();
  page.rows = FindRows(reading, FindIds(reading, conditions, page.paging));
  page.total = CountAll(reading, conditions);
  page.snapshot = SnapshotOf(reading, conditions);
  page.cursor = events::CurrentCursor(session, company);
  return page;
}

}  // namespace comanda::orders
