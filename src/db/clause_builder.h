#pragma once

// Puts together the SQL of lists from a constexpr table of filter and sort clauses (the one
// exception to "SQL is a literal at the call", design section 4). Texts come only from the table;
// values are bound.
//
//   ClauseBuilder builder("SELECT o.id FROM orders o WHERE o.company_id = $1", {company});
//   builder.And("o.status IN ({})", statuses)      // {} becomes $2, $3, …
//       .And("o.created_at >= {}", start)          // {} becomes the next one
//       .OrderBy("o.created_at DESC, o.id DESC")
//       .Limit(per_page, offset);
//   Rows rows = session.QueryBound(builder.sql(), builder.values());
//
// Bound holds texts by view: what is given must live until QueryBound() was called.

#include <string>
#include <string_view>
#include <vector>

#include "db/session.h"

namespace comanda::db {

class ClauseBuilder {
 public:
  // `base` ends in a WHERE with at least one condition; `values` are its $1…$n.
  ClauseBuilder(std::string_view base, std::vector<Bound> values);

  // " AND <clause>". A value becomes the next parameter and stands wherever the clause has {}; a
  // list becomes as many parameters ("$n, $n+1, …"), an empty one NULL, which IN never matches.
  // Clauses are literals of the room's table.
  ClauseBuilder& And(std::string_view clause);
  ClauseBuilder& And(std::string_view clause, Bound value);
  ClauseBuilder& And(std::string_view clause, const std::vector<Bound>& list);
  ClauseBuilder& GroupBy(std::string_view clause);
  ClauseBuilder& OrderBy(std::string_view clause);
  ClauseBuilder& Limit(int64_t limit, int64_t offset);

  const std::string& sql() const { return sql_; }
  const std::vector<Bound>& values() const { return values_; }

 private:
  ClauseBuilder& AndWith(std::string_view clause, std::string_view parameters);
  std::string NextParameter(Bound value);

  std::string sql_;
  std::vector<Bound> values_;
};

}  // namespace comanda::db
