#pragma once

// Joins the SQL of a list from literals: a base statement, a clause for each filter of the request,
// and the clause of its sort. This is the only way to build a statement at run time (db/sql.h);
// every piece of text is an Sql, and values are bound.
//
//   static constexpr Sql kOrders = R"sql(SELECT o.id FROM orders o WHERE o.company_id = $1)sql";
//   ClauseBuilder sql(kOrders, {company});
//   sql.And("o.status IN ({})", statuses)          // {} becomes $2, $3, …
//       .And("o.created_at >= {}", start)          // {} becomes the next one
//       .OrderBy("o.created_at DESC, o.id DESC")
//       .Limit(per_page, offset);
//   auto rows = session.Query<kOrders>(sql);
//
// Bound does not own texts: the arguments must be valid until Query() has been called.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "db/sql.h"

namespace comanda::db {

class ClauseBuilder {
 public:
  // `base` ends in a WHERE with at least one condition; `values` are its $1…$n.
  ClauseBuilder(Sql base, std::vector<Bound> values);

  // Appends " AND <clause>". The value is bound to the next parameter, which replaces every {} of
  // the clause. A list is bound to as many parameters, "$n, $n+1, …"; an empty list becomes NULL,
  // which IN never matches.
  ClauseBuilder& And(Sql clause);
  ClauseBuilder& And(Sql clause, Bound value);
  ClauseBuilder& And(Sql clause, const std::vector<Bound>& list);
  // Appends " AND <clause>". Each {} of the clause takes the next of the values.
  ClauseBuilder& AndEach(Sql clause, const std::vector<Bound>& values);
  ClauseBuilder& OrderBy(Sql clause);
  ClauseBuilder& Limit(int64_t limit, int64_t offset);
  // Appends the text that ends a subquery of the base. Later clauses belong to the outer query.
  ClauseBuilder& EndSubquery(Sql closing);

  bool IsMadeOf(Sql base) const { return base_.data() == base.text().data(); }
  const std::string& sql() const { return sql_; }
  const std::vector<Bound>& values() const { return values_; }

 private:
  void Append(Sql clause, std::string_view in_place_of_braces);
  std::string NextParameter(Bound value);

  std::string_view base_;
  std::string sql_;
  std::vector<Bound> values_;
};

}  // namespace comanda::db
