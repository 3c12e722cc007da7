#pragma once

// Lists put together from a table of filters and a table of sorts (contract section 6, design
// section 4): what the query says of them, and the SQL that follows from it. The rooms bring the
// tables; every Refusal is invalid_parameter and names the parameter.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "base/zone.h"
#include "db/clause_builder.h"
#include "db/session.h"
#include "db/sql.h"
#include "http/page_rows.h"
#include "http/query.h"
#include "http/message.h"

namespace comanda::http {

class Context;
struct Site;

// The query of one list, with what its values may need.
struct ListRequest {
  db::Session& session;
  db::CompanyId company;
  const Query& query;
  // The company's, for filters that take days.
  Zone (*find_zone)(db::Session&, db::CompanyId) = nullptr;

  std::string_view Value(std::string_view name) const { return *query.Find(name); }
};

// Filters

using Operand = std::variant<int64_t, std::string>;
using Operands = std::vector<Operand>;

struct ListFilter {
  std::string_view parameter;
  db::Sql clause;  // {} is the value, or the values
  Operands (*read)(const ListRequest&, std::string_view parameter);
};

// Readers for the table.
Operands ReadStart(const ListRequest& request, std::string_view name);  // >=
// The first instant that is left out: of a day the next day's, of an instant the next millisecond.
Operands ReadEnd(const ListRequest& request, std::string_view name);  // <
Operands ReadInstant(const ListRequest& request, std::string_view name);
Operands ReadUuid(const ListRequest& request, std::string_view name);
Operands ReadBoolean(const ListRequest& request, std::string_view name);
Operands ReadText(const ListRequest& request, std::string_view name);
Operands ReadSnapshot(const ListRequest& request, std::string_view name);
// A comma list of words, as their indexes or as themselves.
template <const auto& kNames>
Operands ReadWordIndexes(const ListRequest& request, std::string_view name) {
  Operands operands;
  for (const size_t index : request.query.ReadWords(name, kNames)) {
    operands.emplace_back(static_cast<int64_t>(index));
  }
  return operands;
}
template <const auto& kNames>
Operands ReadWords(const ListRequest& request, std::string_view name) {
  Operands operands;
  for (const size_t index : request.query.ReadWords(name, kNames)) {
    operands.emplace_back(std::string(kNames[index]));
  }
  return operands;
}
// What a reader throws where the value is none of its kind; the message is a sentence.
Refusal MalformedFilter(std::string_view name, std::string message);

// The filters that a query has. The clause builder takes views of the operands: they must outlive
// the query.
class Conditions {
 public:
  static Conditions Read(const ListRequest& request, std::span<const ListFilter> filters);

  const Operands* Find(std::string_view parameter) const;  // null where the query has it not
  bool empty() const { return conditions_.empty(); }
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
  db::Sql ascending, descending;  // each ends in a unique key
};
// The clause that the query asks for.
db::Sql ReadSort(const Query& query, std::span<const ListSort> sorts,
                 std::string_view default_sort);

// The whole

// Refuses parameters other than page, per_page, sort, those of the filters, and `more`.
void RequireListParameters(const Query& query, std::span<const ListFilter> filters,
                           std::span<const std::string_view> more = {});

// Page 1 says how far the list went when it was read; the following pages send it back, and leave
// out what was created since (contract section 6).
inline constexpr std::string_view kSnapshotParameter = "filter[snapshot]";
std::optional<int64_t> ReadSnapshot(const Query& query);
// The one that came, else the current one.
int64_t SnapshotOf(const Query& query, int64_t current);
void AddSnapshot(Response& response, const Paging& paging, int64_t snapshot);

// Says in the answer how many rows of a list or feed are left out because they are damaged
// (X-Damaged-Rows), and which ones to those who look after the box.
void NoteDamage(Site& site, std::span<const std::string> rows, Response& response);

// What a page says beside its rows, and its answer.
struct ListPage {
  Paging paging;
  int64_t total = 0;
  int64_t snapshot = 0;
};
Response ListResponse(const ListPage& page, PageRows& rows, std::string etag,
                      Cache cache = Cache::kPrivateNoCache);

// The answer of a list whose tag is made of that change counter: 304 where the client has it
// already, without a look at the database.
using FindPage = ListPage (*)(db::Session&, db::CompanyId, const Query&, PageRows& rows);
Response AnswerList(Context& ctx, size_t counter_kind, Cache cache, FindPage find);

}  // namespace comanda::http
