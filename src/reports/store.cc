#include "reports/store.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "orders/order.h"

namespace comanda::reports::store {
namespace {

bool Allows(const auto& values, const auto& value) {
  return values.empty() || std::ranges::find(values, value) != values.end();
}

// The facets of orders (orders/store.h) that are chosen, and whether they count in the main
// figures: all statuses that are asked for; unasked, all but CANCELLED.
using Facets = std::unordered_map<int64_t, bool>;

Facets SelectFacets(db::Session& session, const OrderFilter& filter) {
  constexpr auto kCancelled = static_cast<int64_t>(orders::Status::kCancelled);
  static constexpr db::Sql kSelect = R"sql(
      SELECT facet, status, service_type, source FROM order_facet WHERE company_id = $1
      )sql";
  auto rows = session.Query<kSelect>(filter.company);
  Facets facets;
  while (rows.Next()) {
    const int64_t status = rows.Int("status");
    if (!Allows(filter.statuses, status) ||
        !Allows(filter.service_types, rows.Int("service_type")) ||
        !Allows(filter.sources, rows.View("source"))) {
      continue;
    }
    facets[rows.Int("facet")] = !filter.statuses.empty() || status != kCancelled;
  }
  return facets;
}

// `intervals` are sorted and do not overlap.
bool IsIn(const std::vector<Interval>& intervals, UtcMs at) {
  const auto after = std::ranges::upper_bound(intervals, at, {}, &Interval::from);
  return after != intervals.begin() && at < std::prev(after)->to;
}

// Calls add(rows, counts) for each row of orders that are chosen. kSelect takes the company and a
// stretch of time, and returns the order's facet beside what is added.
template <const db::Sql& kSelect, typename Add>
void EachRow(db::Session& session, const OrderFilter& filter, Add add) {
  const Facets facets = SelectFacets(session, filter);
  for (const Interval& interval : filter.intervals) {
    auto rows = session.QueryLarge<kSelect>(filter.company, interval.from, interval.to);
    while (rows.Next()) {
      const auto facet = facets.find(rows.Int("facet"));
      if (facet != facets.end()) add(rows, facet->second);
    }
  }
}

}  // namespace

void EachPayment(db::Session& session, const OrderFilter& filter,
                 const std::function<void(const Payment&)>& add) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT o.facet, p.payment_method_id, p.amount, p.tip_amount, p.canceled_at
      FROM orders AS o
      JOIN payment AS p ON p.company_id = o.company_id AND p.order_id = o.id
      WHERE o.company_id = $1 AND o.created_at >= $2 AND o.created_at < $3
      )sql";
  EachRow<kSelect>(session, filter, [&](const auto& row, bool counts) {
    add({.method_id = row.View("payment_method_id"),
         .amount = row.Int("amount"),
         .tip_amount = row.Int("tip_amount"),
         .canceled = !row.IsNull("canceled_at"),
         .counts = counts && row.IsNull("canceled_at")});
  });
}

void EachPaymentByItsTime(db::Session& session, const OrderFilter& filter,
                          const std::function<void(const Payment&)>& add) {
  if (filter.intervals.empty()) return;
  const Interval span{filter.intervals.front().from, filter.intervals.back().to};
  // No index has the times of payments. A change of an order sets its updated_at, so that what has
  // a time in the span is found among the orders that were changed since its beginning. The margins
  // are for a clock that was put back, and for payments that a till has dated before the order.
  constexpr UtcMs kDayMs = 86'400'000;
  constexpr UtcMs kSetBackMs = 2 * kDayMs;
  constexpr UtcMs kDatedBackMs = 46 * kDayMs;
  static constexpr db::Sql kSelect = R"sql(
      SELECT o.facet, p.payment_method_id, p.amount, p.tip_amount, p.created_at, p.canceled_at
      FROM orders AS o
      JOIN payment AS p ON p.company_id = o.company_id AND p.order_id = o.id
      WHERE o.company_id = $1 AND o.updated_at >= $2 AND o.created_at < $3
      )sql";
  const Facets facets = SelectFacets(session, filter);
  auto row =
      session.QueryLarge<kSelect>(filter.company, span.from - kSetBackMs, span.to + kDatedBackMs);
  while (row.Next()) {
    if (!facets.contains(row.Int("facet"))) continue;
    const std::optional<UtcMs> canceled_at = row.OptionalInt("canceled_at");
    const Payment payment{.method_id = row.View("payment_method_id"),
                          .amount = row.Int("amount"),
                          .tip_amount = row.Int("tip_amount"),
                          .canceled = canceled_at && IsIn(filter.intervals, *canceled_at),
                          .counts = IsIn(filter.intervals, row.Int("created_at"))};
    if (payment.canceled || payment.counts) add(payment);
  }
}

void EachLine(db::Session& session, const OrderFilter& filter, LineKind kind,
              const std::function<void(const Line&)>& add) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT o.facet, l.order_id, l.product_id, l.variant_id, l.product_name, l.quantity,
        l.combo_price, l.canceled_at
      FROM orders AS o
      JOIN combo AS l ON l.company_id = o.company_id AND l.order_id = o.id
      WHERE o.company_id = $1 AND o.created_at >= $2 AND o.created_at < $3
      )sql";
  EachRow<kSelect>(session, filter, [&](const auto& row, bool counts) {
    if (row.IsNull("product_id") != (kind == LineKind::kFreehand)) return;
    add({.order_id = row.View("order_id"),
         .product_id = row.View("product_id"),
         .variant_id = row.View("variant_id"),
         .name = row.View("product_name"),
         .quantity = row.Int("quantity"),
         .price = row.Int("combo_price"),
         .canceled = !row.IsNull("canceled_at"),
         .counts = counts});
  });
}

void EachModifier(db::Session& session, const OrderFilter& filter,
                  const std::function<void(const Modifier&)>& add) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT o.facet, l.product_id, l.variant_id, m.name, m.quantity, m.price
      FROM orders AS o
      JOIN combo AS l ON l.company_id = o.company_id AND l.order_id = o.id
      JOIN combo_modifier AS m ON m.company_id = l.company_id AND m.order_id = l.order_id
        AND m.combo_position = l.position
      WHERE o.company_id = $1 AND o.created_at >= $2 AND o.created_at < $3
        AND l.product_id IS NOT NULL AND l.canceled_at IS NULL
      )sql";
  EachRow<kSelect>(session, filter, [&](const auto& row, bool counts) {
    if (!counts) return;
    add({.product_id = row.View("product_id"),
         .variant_id = row.View("variant_id"),
         .name = row.View("name"),
         .quantity = row.Int("quantity"),
         .price = row.Int("price")});
  });
}

std::optional<SoldAs> FindName(db::Session& session, db::CompanyId company,
                               std::string_view order_id, std::string_view product_id,
                               const std::optional<std::string>& variant_id) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT product_name, variant_name FROM combo
      WHERE company_id = $1 AND order_id = $2 AND product_id = $3
        AND coalesce(variant_id, '') = $4
      ORDER BY position LIMIT 1
      )sql";
  const auto row = session.One<kSelect>(company, order_id, product_id, variant_id.value_or(""));
  if (!row) return std::nullopt;
  return SoldAs{row->Text("product_name"), row->OptionalText("variant_name")};
}

}  // namespace comanda::reports::store
