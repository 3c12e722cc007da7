#include "reports/store.h"

#include <algorithm>
#include <unordered_map>

#include "orders/order.h"

namespace comanda::reports::store {
namespace {

bool Allows(const auto& values, const auto& value) {
  return values.empty() || std::ranges::find(values, value) != values.end();
}

// The facets of orders (orders/store.h) that are chosen, and whether they count in the main
// figures: all statuses that are asked for; unasked, all but CANCELLED.
std::unordered_map<int64_t, bool> SelectFacets(db::Session& session, const Question& question) {
  constexpr auto kCancelled = static_cast<int64_t>(orders::Status::kCancelled);
  db::Rows rows = session.Query(
      "SELECT facet, status, service_type, source FROM order_facet WHERE company_id = $1",
      question.company);
  std::unordered_map<int64_t, bool> facets;
  while (rows.Next()) {
    const int64_t status = rows.Int(1);
    if (!Allows(question.statuses, status) || !Allows(question.service_types, rows.Int(2)) ||
        !Allows(question.sources, rows.View(3))) {
      continue;
    }
    facets[rows.Int(0)] = !question.statuses.empty() || status != kCancelled;
  }
  return facets;
}

// `sql` gives facet, order_id and what is packed, of the company $1 from $2 to before $3.
void EachSale(db::Session& session, const Question& question, std::string_view sql,
              const AddSale& add) {
  const auto facets = SelectFacets(session, question);
  for (const Interval& moment : question.moments) {
    db::Rows rows = session.Query(sql, question.company, moment.from, moment.to);
    while (rows.Next()) {
      const auto facet = facets.find(rows.Int(0));
      if (facet == facets.end()) continue;
      add({.packed = rows.View(2), .order_id = rows.View(1), .counts = facet->second});
    }
  }
}

}  // namespace

void EachPayments(db::Session& session, const Question& question, const AddSale& add) {
  EachSale(session, question,
           "SELECT facet, order_id, payments FROM sale"
           " WHERE company_id = $1 AND created_at >= $2 AND created_at < $3",
           add);
}

void EachLines(db::Session& session, const Question& question, const AddSale& add) {
  EachSale(session, question,
           "SELECT facet, order_id, lines FROM sale"
           " WHERE company_id = $1 AND created_at >= $2 AND created_at < $3",
           add);
}

std::optional<SoldAs> FindName(db::Session& session, db::CompanyId company,
                               std::string_view order_id, std::string_view product_id,
                               const std::optional<std::string>& variant_id) {
  const auto row = session.One(
      "SELECT product_name, variant_name FROM combo WHERE company_id = $1 AND order_id = $2"
      " AND product_id = $3 AND coalesce(variant_id, '') = $4 ORDER BY position LIMIT 1",
      company, order_id, product_id, variant_id.value_or(""));
  if (!row) return std::nullopt;
  return SoldAs{row->Text(0), row->OptionalText(1)};
}

}  // namespace comanda::reports::store
