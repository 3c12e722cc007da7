#pragma once

// Puts together the SQL of lists from a constexpr table of filter and sort clauses (the one exception to
// "SQL is a literal at the call", design section 4). Texts come only from the table; values are bound.
//
//   constexpr std::array kFilters = {
//       Clause{"status", "o.status IN ({})", Arity::kList},   // {} becomes $n, $n+1, …
//       Clause{"start_date", "o.created_at >= {}"},
//   };
//   ClauseBuilder builder("SELECT o.id FROM orders o WHERE o.company_id = $1", company);
//   builder.And("o.status IN ({})", list).OrderBy("o.created_at DESC, o.id DESC").Page(page, per_page);
//   session.QueryBound(builder.sql(), builder.values());

#include <string>
#include <string_view>
#include <vector>

#include "db/session.h"

namespace comanda::db {

class ClauseBuilder {
 public:
  // `base` ends in a WHERE with at least one condition; `values` are its $1…$n.
  ClauseBuilder(std::string_view base, std::vector<Bound> values);

  // " AND <clause>", each {} replaced by the next parameter. A list of values fills one {} with
  // "$n, $n+1, …". Clauses are literals of the room's table.
  ClauseBuilder& And(std::string_view clause);
  ClauseBuilder& And(std::string_view clause, Bound value);
  ClauseBuilder& And(std::string_view clause, const std::vector<Bound>& list);
  ClauseBuilder& OrderBy(std::string_view clause);
  ClauseBuilder& Limit(int64_t limit, int64_t offset);

  const std::string& sql() const { return sql_; }
  const std::vector<Bound>& values() const { return values_; }

 private:
  std::string sql_;
  std::vector<Bound> values_;
};

}  // namespace comanda::db
