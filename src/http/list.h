#pragma once

// Lists (contract section 6, design section 4). A room describes its list by a table of filters and
// a table of sorts; this file reads the query by those tables and makes the clauses of the SQL.
// Every Refusal thrown here is invalid_parameter and names the parameter.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "base/time/zone.h"
#include "db/clause_builder.h"
#include "db/session.h"
#include "db/sql.h"
#include "http/page_rows.h"
#include "http/query.h"
#include "http/response.h"

namespace comanda::http {

class Context;
struct Site;

// The query of one list, and what is needed to read its values.
struct ListRequest {
  db::Session& session;
  db::CompanyId company;
  const Query& query;
  // Finds how the company's days are cut; must be set where a filter takes days.
  Days (*find_days)(const ListRequest&) = nullptr;

  std::string_view Value(std::string_view name) const { return *query.Find(name); }
};

// Filters

using Operand = std::variant<int64_t, std::string>;
using Operands = std::vector<Operand>;

struct ListFilter {
  std::string_view parameter;
  db::Sql clause;  // with {} in place of the value or values
  Operands (*read)(const ListRequest&, std::string_view parameter);
};

// Readers for ListFilter::read. Each throws Refusal where the value is malformed.

// The first instant of a period, for a clause with >=.
Operands ReadStart(const ListRequest& request, std::string_view name);
// The end of a period, for a clause with <: the first instant of the day after a day, or the
// instant that was sent.
Operands ReadEnd(const ListRequest& request, std::string_view name);
Operands ReadInstant(const ListRequest& request, std::string_view name);
Operands ReadUuid(const ListRequest& request, std::string_view name);
Operands ReadBoolean(const ListRequest& request, std::string_view name);
Operands ReadText(const ListRequest& request, std::string_view name);
Operands ReadSnapshot(const ListRequest& request, std::string_view name);
// A comma list of words of the table kNames, as their indexes.
template <const auto& kNames>
Operands ReadWordIndexes(const ListRequest& request, std::string_view name) {
  Operands operands;
  for (const size_t index : request.query.ReadWords(name, kNames)) {
    operands.emplace_back(static_cast<int64_t>(index));
  }
  return operands;
}
// A comma list of words of the table kNames, as texts.
template <const auto& kNames>
Operands ReadWords(const ListRequest& request, std::string_view name) {
  Operands operands;
  for (const size_t index : request.query.ReadWords(name, kNames)) {
    operands.emplace_back(std::string(kNames[index]));
  }
  return operands;
}
// What a reader throws where the value is malformed. The message is the predicate of a sentence
// about the parameter: "must be …".
Refusal MalformedFilter(std::string_view name, std::string message);

// The filters of one request, with their values. Must outlive the clause builder that Narrow() was
// called with, which has views of the values.
class Conditions {
 public:
  static Conditions Read(const ListRequest& request, std::span<const ListFilter> filters);

  // The values of a filter; null where the query does not have it.
  const Operands* Find(std::string_view parameter) const;
  bool empty() const { return conditions_.empty(); }
  // Adds the clauses of all filters.
  void Narrow(db::ClauseBuilder& sql) const;

 private:
  struct Condition {
    const ListFilter* filter;
    Operands operands;
  };
  std::vector<Condition> conditions_;
};

std::vector<db::Bound> ToBound(const Operands& operands);

// Sorts

struct ListSort {
  std::string_view field;
  db::Sql ascending, descending;  // each ends in a unique key, so that the order is total
};
// The clause of the sort that the query asks for.
db::Sql ReadSort(const Query& query, std::span<const ListSort> sorts,
                 std::string_view default_sort);

// The list

// Refuses all parameters but page, per_page, sort, those of the filters, and `more`.
void RequireListParameters(const Query& query, std::span<const ListFilter> filters,
                           std::span<const std::string_view> more = {});

// The snapshot of a list is the number of its last record when page 1 was read. Page 1 shows it as
// X-Snapshot; clients send it back with the other pages, which then leave out the records that were
// created since (contract section 6).
inline constexpr std::string_view kSnapshotParameter = "filter[snapshot]";
std::optional<int64_t> ReadSnapshot(const Query& query);
// The snapshot that was sent, else the current one.
int64_t SnapshotOf(const Query& query, int64_t current);
// Adds X-Snapshot to page 1.
void AddSnapshot(Response& response, const Paging& paging, int64_t snapshot);

// Adds X-Damaged-Rows, the number of rows that are left out of a list or feed because they are
// damaged, and reports each of them to db::DamagedRows.
void NoteDamage(Site& site, std::span<const std::string> rows, Response& response);

// What a page has beside its rows.
struct ListPage {
  Paging paging;
  int64_t total = 0;
  int64_t snapshot = 0;
};
// The answer with that page and the rows that were added.
Response ListResponse(const ListPage& page, PageRows& rows, std::string etag,
                      Cache cache = Cache::kPrivateNoCache);

// The answer to a list whose tag is made from that change counter: 304 where the client has it
// already, without a read of the database. Otherwise calls find() in a read transaction.
using FindPage = ListPage (*)(db::Session&, db::CompanyId, const Query&, PageRows& rows);
Response AnswerList(Context& ctx, size_t counter_kind, Cache cache, FindPage find);

}  // namespace comanda::http
