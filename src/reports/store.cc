#include "reports/store.h"

#include <string>
#include <unordered_map>

#include "db/clause_builder.h"
#include "orders/order.h"

namespace comanda::reports::store {
namespace {

// Left out of the main figures: CANCELLED orders, unless the question names statuses itself.
int64_t StatusLeftOut(const Question& question) {
  constexpr int64_t kNone = -1;
  return question.statuses.empty() ? static_cast<int64_t>(orders::Status::kCancelled) : kNone;
}

std::vector<db::Bound> ToBound(const auto& values) { return {values.begin(), values.end()}; }

// The base has $1 company, $2 from, $3 to, $4 the status that the main figures leave out.
db::ClauseBuilder Ask(std::string_view base, const Question& question, Interval moment) {
  db::ClauseBuilder sql(base, {question.company, moment.from, moment.to, StatusLeftOut(question)});
  if (!question.statuses.empty()) sql.And("o.status IN ({})", ToBound(question.statuses));
  if (!question.service_types.empty())
    sql.And("o.service_type IN ({})", ToBound(question.service_types));
  if (!question.sources.empty()) sql.And("o.source IN ({})", ToBound(question.sources));
  return sql;
}

}  // namespace

void EachPaymentSum(db::Session& session, const Question& question, Interval moment,
                    const std::function<void(const PaymentSums&)>& add) {
  db::ClauseBuilder sql =
      Ask("SELECT p.payment_method_id, "
          "count(*) FILTER (WHERE p.canceled_at IS NULL AND o.status <> $4), "
          "coalesce(sum(p.amount) FILTER (WHERE p.canceled_at IS NULL AND o.status <> $4), 0), "
          "count(*) FILTER (WHERE p.canceled_at IS NULL AND o.status <> $4 AND p.tip_amount > 0), "
          "coalesce(sum(p.tip_amount) FILTER (WHERE p.canceled_at IS NULL AND o.status <> $4), 0), "
          "count(*) FILTER (WHERE p.canceled_at IS NOT NULL), "
          "coalesce(sum(p.amount) FILTER (WHERE p.canceled_at IS NOT NULL), 0) "
          "FROM orders o JOIN payment p ON p.company_id = o.company_id AND p.order_id = o.id "
          "WHERE o.company_id = $1 AND o.created_at >= $2 AND o.created_at < $3",
          question, moment);
  sql.GroupBy("p.payment_method_id").OrderBy("p.payment_method_id");
  db::Rows rows = session.QueryBound(sql.sql(), sql.values());
  while (rows.Next()) {
    add({.payment_method_id = rows.Text(0),
         .count = rows.Int(1),
         .sum_total = rows.Int(2),
         .tips_count = rows.Int(3),
         .tips_total = rows.Int(4),
         .canceled_count = rows.Int(5),
         .canceled_total = rows.Int(6)});
  }
}

// Added up here: GROUP BY would sort every line of a year first, in memory.
void EachLinkedSum(db::Session& session, const Question& question, Interval moment,
                   const std::function<void(const SoldRow&)>& add) {
  db::ClauseBuilder sql =
      Ask("SELECT c.product_id, c.variant_id, c.product_name, c.variant_name, c.quantity, "
          "c.combo_price, "
          "c.canceled_at IS NOT NULL, c.canceled_at IS NULL AND o.status <> $4 "
          "FROM orders o JOIN combo c ON c.company_id = o.company_id AND c.order_id = o.id "
          "WHERE o.company_id = $1 AND o.created_at >= $2 AND o.created_at < $3 "
          "AND c.product_id IS NOT NULL",
          question, moment);
  db::Rows rows = session.QueryBound(sql.sql(), sql.values());
  std::unordered_map<std::string, SoldRow> lines;
  std::string key;
  while (rows.Next()) {
    key.assign(rows.View(0)).append("/").append(rows.View(1));
    SoldRow& line = lines[key];
    if (!line.product_id) {
      line.product_id = rows.Text(0);
      line.variant_id = rows.OptionalText(1);
    }
    if (rows.View(2) > line.product_name) line.product_name = rows.Text(2);
    if (!rows.IsNull(3) && rows.View(3) > line.variant_name.value_or("")) {
      line.variant_name = rows.Text(3);
    }
    if (rows.Bool(6)) line.canceled_quantity += rows.Int(4);
    if (!rows.Bool(7)) continue;
    line.quantity += rows.Int(4);
    line.total_sales += rows.Int(5);
  }
  for (const auto& [name, line] : lines) add(line);
}

void EachFreehandSum(db::Session& session, const Question& question, Interval moment,
                     const std::function<void(const SoldRow&)>& add) {
  db::ClauseBuilder sql = Ask(
      "SELECT c.product_name, "
      "coalesce(sum(c.quantity) FILTER (WHERE c.canceled_at IS NULL AND o.status <> $4), 0), "
      "coalesce(sum(c.combo_price) FILTER (WHERE c.canceled_at IS NULL AND o.status <> $4), 0), "
      "coalesce(sum(c.quantity) FILTER (WHERE c.canceled_at IS NOT NULL), 0) "
      "FROM orders o JOIN combo c ON c.company_id = o.company_id AND c.order_id = o.id "
      "WHERE o.company_id = $1 AND o.created_at >= $2 AND o.created_at < $3 AND c.product_id IS "
      "NULL",
      question, moment);
  sql.GroupBy("c.product_name").OrderBy("c.product_name");
  db::Rows rows = session.QueryBound(sql.sql(), sql.values());
  while (rows.Next()) {
    add({.product_name = rows.Text(0),
         .quantity = rows.Int(1),
         .total_sales = rows.Int(2),
         .canceled_quantity = rows.Int(3)});
  }
}

// An order's modifiers first, together; to look for those of each line would take as long again.
void EachModifierSum(db::Session& session, const Question& question, Interval moment,
                     const std::function<void(const ModifierSums&)>& add) {
  db::ClauseBuilder sql = Ask(
      "SELECT c.product_id, c.variant_id, m.name, m.quantity, m.price "
      "FROM orders o JOIN combo_modifier m ON m.company_id = o.company_id AND m.order_id = o.id "
      "CROSS JOIN combo c WHERE c.company_id = m.company_id AND c.order_id = m.order_id "
      "AND c.position = m.combo_position "
      "AND o.company_id = $1 AND o.created_at >= $2 AND o.created_at < $3 AND o.status <> $4 "
      "AND c.product_id IS NOT NULL AND c.canceled_at IS NULL",
      question, moment);
  db::Rows rows = session.QueryBound(sql.sql(), sql.values());
  std::unordered_map<std::string, ModifierSums> modifiers;
  std::string key;
  while (rows.Next()) {
    key.assign(rows.View(0)).append("/").append(rows.View(1)).append("/").append(rows.View(2));
    ModifierSums& sums = modifiers[key];
    if (sums.product_id.empty()) {
      sums.product_id = rows.Text(0);
      sums.variant_id = rows.OptionalText(1);
      sums.modifier.name = rows.Text(2);
    }
    sums.modifier.quantity += rows.Int(3);
    sums.modifier.total_sales += rows.Int(4);
  }
  for (const auto& [name, sums] : modifiers) add(sums);
}

}  // namespace comanda::reports::store
