#include "http/list.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/check.h"
#include "http/context.h"

namespace comanda::http {
namespace {

db::Bound ToBound(const Operand& operand) {
  if (const auto* number = std::get_if<int64_t>(&operand)) return *number;
  return std::get<std::string>(operand);
}

Days FindDays(const ListRequest& request) {
  CHECK(request.find_days != nullptr, "a list whose filters take days brings the company's days");
  return request.find_days(request);
}

}  // namespace

// Filters

Refusal MalformedFilter(std::string_view name, std::string message) {
  return Refusal(Problem::kInvalidParameter, std::string(name) + ": " + message,
                 {{std::string(name), FieldCode::kInvalidFormat, message}});
}

Operands ReadStart(const ListRequest& request, std::string_view name) {
  return {request.query.ReadDayOrInstant(name, FindDays(request), false)->instant};
}

Operands ReadEnd(const ListRequest& request, std::string_view name) {
  return {request.query.ReadDayOrInstant(name, FindDays(request), true)->instant};
}

Operands ReadInstant(const ListRequest& request, std::string_view name) {
  return {*request.query.ReadInstant(name)};
}

Operands ReadUuid(const ListRequest& request, std::string_view name) {
  return {*request.query.ReadUuid(name)};
}

Operands ReadBoolean(const ListRequest& request, std::string_view name) {
  return {int64_t{*request.query.ReadBoolean(name)}};
}

Operands ReadText(const ListRequest& request, std::string_view name) {
  return {std::string(request.Value(name))};
}

Operands ReadSnapshot(const ListRequest& request, std::string_view name) {
  CHECK(name == kSnapshotParameter, "every list calls it the same");
  return {*ReadSnapshot(request.query)};
}

Conditions Conditions::Read(const ListRequest& request, std::span<const ListFilter> filters) {
  Conditions read;
  for (const ListFilter& filter : filters) {
    if (!request.query.Find(filter.parameter)) continue;
    read.conditions_.push_back({&filter, filter.read(request, filter.parameter)});
  }
  return read;
}

const Operands* Conditions::Find(std::string_view parameter) const {
  for (const Condition& condition : conditions_) {
    if (condition.filter->parameter == parameter) return &condition.operands;
  }
  return nullptr;
}

void Conditions::Narrow(db::ClauseBuilder& sql) const {
  for (const Condition& condition : conditions_) {
    sql.And(condition.filter->clause, http::ToBound(condition.operands));
  }
}

std::vector<db::Bound> ToBound(const Operands& operands) {
  std::vector<db::Bound> bound;
  for (const Operand& operand : operands) bound.push_back(ToBound(operand));
  return bound;
}

// Sorts

db::Sql ReadSort(const Query& query, std::span<const ListSort> sorts,
                 std::string_view default_sort) {
  std::vector<std::string_view> fields;
  for (const ListSort& sort : sorts) fields.push_back(sort.field);
  const Sort sort = query.ReadSort(fields, default_sort);
  return sort.descending ? sorts[sort.index].descending : sorts[sort.index].ascending;
}

// The list

void RequireListParameters(const Query& query, std::span<const ListFilter> filters,
                           std::span<const std::string_view> more) {
  std::vector<std::string_view> names;
  names.reserve(filters.size() + 3 + more.size());
  for (const ListFilter& filter : filters) names.push_back(filter.parameter);
  names.insert(names.end(), {"page", "per_page", "sort"});
  names.insert(names.end(), more.begin(), more.end());
  query.AllowOnly(names);
}

std::optional<int64_t> ReadSnapshot(const Query& query) {
  const std::optional<std::string_view> text = query.Find(kSnapshotParameter);
  if (!text) return std::nullopt;
  int64_t seq = -1;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), seq);
  if (error != std::errc() || end != text->data() + text->size() || seq < 0) {
    throw MalformedFilter(kSnapshotParameter, "must be the X-Snapshot of page 1, as it came.");
  }
  return seq;
}

int64_t SnapshotOf(const Query& query, int64_t current) {
  return ReadSnapshot(query).value_or(current);
}

void AddSnapshot(Response& response, const Paging& paging, int64_t snapshot) {
  if (paging.page != 1) return;
  response.headers.emplace_back("X-Snapshot", std::to_string(snapshot));
}

void NoteDamage(Site& site, std::span<const std::string> rows, Response& response) {
  if (rows.empty()) return;
  for (const std::string& row : rows) site.database.damaged_rows().Note(row);
  response.headers.emplace_back("X-Damaged-Rows", std::to_string(rows.size()));
}

Response ListResponse(const ListPage& page, PageRows& rows, std::string etag, Cache cache) {
  Response response;
  response.body = rows.End(page.paging, page.total);
  response.etag = std::move(etag);
  response.cache = cache;
  AddSnapshot(response, page.paging, page.snapshot);
  return response;
}

Response AnswerList(Context& ctx, size_t counter_kind, Cache cache, FindPage find) {
  // The tag is read before the rows, which may thus be newer than the tag, but never older.
  std::string tag = ctx.ListTag(counter_kind);
  if (ctx.HasMatch(tag)) {
    Response unchanged = NotModified(std::move(tag));
    unchanged.cache = cache;
    return unchanged;
  }
  return ctx.ReadPage([&](db::Snapshot& snapshot, PageRows& rows) {
    const ListPage page = find(snapshot, ctx.company(), ctx.query(), rows);
    return ListResponse(page, rows, tag, cache);
  });
}

}  // namespace comanda::http
