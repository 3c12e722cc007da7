#include "reports/reports.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "company/companies.h"
#include "menu/menu.h"
#include "reports/store.h"

namespace comanda::reports {
namespace {

// What stands under one key, over all intervals.
template <typename Key, typename Row>
Row& RowOf(std::map<Key, Row>& rows, const Key& key, const Row& fresh) {
  return rows.try_emplace(key, fresh).first->second;
}

template <typename Row>
void NameMethod(db::Session& session, db::CompanyId company, Row& row) {
  const auto method = company::FindPaymentMethod(session, company, row.payment_method_id);
  CHECK(method.has_value(), "payment methods are never deleted");
  row.code = method->code;
  row.name = method->description;
}

std::map<std::string, store::PaymentSums> SumPayments(db::Session& session,
                                                      const Question& question) {
  std::map<std::string, store::PaymentSums> methods;
  for (const Interval& moment : question.moments) {
    store::EachPaymentSum(session, question, moment, [&](const store::PaymentSums& sums) {
      store::PaymentSums& row = methods[sums.payment_method_id];
      row.count += sums.count;
      row.sum_total += sums.sum_total;
      row.tips_count += sums.tips_count;
      row.tips_total += sums.tips_total;
      row.canceled_count += sums.canceled_count;
      row.canceled_total += sums.canceled_total;
    });
  }
  return methods;
}

// A product with its variant, or the name of a free-form line.
using LineKey = std::tuple<std::string, std::string, std::string>;

LineKey KeyOf(const SoldRow& row) {
  const bool is_linked = row.product_id.has_value();
  return {row.product_id.value_or(""), row.variant_id.value_or(""),
          is_linked ? "" : row.product_name};
}

// The menu's names of today; lines keep those of their sale.
void NameLine(db::Session& session, db::CompanyId company, SoldRow& row) {
  if (!row.product_id) return;
  const auto item = row.variant_id ? menu::FindVariant(session, company, *row.variant_id)
                                   : menu::FindProduct(session, company, *row.product_id);
  if (!item) return;
  row.product_name = item->product_name;
  if (row.variant_id) row.variant_name = item->variant_name;
}

using ModifierKey = std::pair<LineKey, std::string>;

void AddModifiers(db::Session& session, const Question& question,
                  std::map<LineKey, SoldRow>& rows) {
  std::map<ModifierKey, SoldModifier> modifiers;
  for (const Interval& moment : question.moments) {
    store::EachModifierSum(session, question, moment, [&](const store::ModifierSums& sums) {
      const LineKey line{sums.product_id, sums.variant_id.value_or(""), ""};
      SoldModifier& row = RowOf(modifiers, ModifierKey{line, sums.modifier.name},
                                SoldModifier{.name = sums.modifier.name});
      row.quantity += sums.modifier.quantity;
      row.total_sales += sums.modifier.total_sales;
    });
  }
  for (auto& [key, modifier] : modifiers)
    rows.at(key.first).modifiers.push_back(std::move(modifier));
  for (auto& [key, row] : rows) {
    std::ranges::stable_sort(row.modifiers, std::ranges::greater(), &SoldModifier::quantity);
  }
}

}  // namespace

std::vector<MethodRow> ByPaymentMethods(db::Session& session, const Question& question) {
  std::vector<MethodRow> rows;
  for (const auto& [id, sums] : SumPayments(session, question)) {
    MethodRow row{.payment_method_id = id,
                  .count = sums.count,
                  .sum_total = sums.sum_total,
                  .tips_total = sums.tips_total,
                  .canceled_count = sums.canceled_count,
                  .canceled_total = sums.canceled_total};
    // An order that was cancelled with its payments leaves nothing to tell.
    if (row.count == 0 && row.canceled_count == 0) continue;
    NameMethod(session, question.company, row);
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &MethodRow::sum_total);
  return rows;
}

std::vector<TipRow> ByTips(db::Session& session, const Question& question) {
  std::vector<TipRow> rows;
  for (const auto& [id, sums] : SumPayments(session, question)) {
    if (sums.tips_count == 0) continue;
    TipRow row{.payment_method_id = id, .count = sums.tips_count, .sum_total = sums.tips_total};
    NameMethod(session, question.company, row);
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &TipRow::sum_total);
  return rows;
}

std::vector<SoldRow> ProductsSold(db::Session& session, const Question& question, Lines lines) {
  std::map<LineKey, SoldRow> rows;
  const auto add = [&](const SoldRow& sums) {
    SoldRow fresh = sums;
    fresh.quantity = fresh.total_sales = fresh.canceled_quantity = 0;
    SoldRow& row = RowOf(rows, KeyOf(sums), fresh);
    row.quantity += sums.quantity;
    row.total_sales += sums.total_sales;
    row.canceled_quantity += sums.canceled_quantity;
  };
  for (const Interval& moment : question.moments) {
    if (lines == Lines::kFreehand) {
      store::EachFreehandSum(session, question, moment, add);
    } else {
      store::EachLinkedSum(session, question, moment, add);
    }
  }
  if (lines == Lines::kProductsWithModifiers) AddModifiers(session, question, rows);

  std::vector<SoldRow> sorted;
  for (auto& [key, row] : rows) {
    if (row.quantity == 0 && row.canceled_quantity == 0) continue;
    NameLine(session, question.company, row);
    sorted.push_back(std::move(row));
  }
  std::ranges::stable_sort(sorted, std::ranges::greater(), &SoldRow::quantity);
  return sorted;
}

Minor AveragePrice(Minor total_sales, int64_t quantity_thousandths) {
  if (quantity_thousandths == 0) return 0;
  const __int128 scaled = static_cast<__int128>(total_sales) * 1000;
  return static_cast<Minor>((scaled + quantity_thousandths / 2) / quantity_thousandths);
}

}  // namespace comanda::reports
