#include "reports/reports.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/problem.h"
#include "company/companies.h"
#include "menu/menu.h"
#include "reports/store.h"

namespace comanda::reports {
namespace {

// Lets a map keyed by text be searched by a view, without a copy.
struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
template <typename Sums>
using SumsByText = std::unordered_map<std::string, Sums, TextHash, std::equal_to<>>;

template <typename Sums>
Sums& SumsOf(SumsByText<Sums>& all, std::string_view text) {
  const auto found = all.find(text);
  return found == all.end() ? all[std::string(text)] : found->second;
}

template <typename Row>
void NameMethod(db::Session& session, db::CompanyId company, Row& row) {
  const auto method = company::FindPaymentMethod(session, company, row.payment_method_id);
  if (!method) {
    throw Fault(Fault::Kind::kDamaged, "a payment is damaged: there is no payment method " +
                                           std::string(row.payment_method_id));
  }
  row.code = method->code;
  row.name = method->description;
}

// Payments.

struct PaymentSums {
  int64_t count = 0;
  Minor sum_total = 0;
  int64_t tips_count = 0;
  Minor tips_total = 0;
  int64_t canceled_count = 0;
  Minor canceled_total = 0;
};

void Add(const store::Payment& payment, PaymentSums& sums) {
  if (payment.canceled) {
    ++sums.canceled_count;
    sums.canceled_total += payment.amount;
  }
  if (payment.counts) {
    ++sums.count;
    sums.sum_total += payment.amount;
    if (payment.tip_amount > 0) ++sums.tips_count;
    sums.tips_total += payment.tip_amount;
  }
}

// Sorted by id of the method.
std::map<std::string, PaymentSums> SumPayments(db::Session& session, const OrderFilter& filter,
                                               DatedBy dated_by) {
  SumsByText<PaymentSums> methods;
  const auto add = [&](const store::Payment& payment) {
    Add(payment, SumsOf(methods, payment.method_id));
  };
  if (dated_by == DatedBy::kPayment) {
    store::EachPaymentByItsTime(session, filter, add);
  } else {
    store::EachPayment(session, filter, add);
  }
  return {methods.begin(), methods.end()};
}

// Lines.

struct ModifierSums {
  int64_t quantity = 0;
  Minor total_sales = 0;
};

struct LineSums {
  // Any order with such a line, to find its names.
  std::string order_id;
  std::string product_id, variant_id;
  int64_t quantity = 0;
  Minor total_sales = 0;
  int64_t canceled_quantity = 0;
  SumsByText<ModifierSums> modifiers;
};

// Unambiguous, because both are UUIDs or empty.
std::string ProductKey(std::string_view product_id, std::string_view variant_id) {
  return std::string(product_id).append(variant_id);
}

void Add(const store::Line& line, LineSums& sums) {
  if (sums.order_id.empty()) {
    sums.order_id = line.order_id;
    sums.product_id = line.product_id;
    sums.variant_id = line.variant_id;
  }
  if (line.canceled) {
    sums.canceled_quantity += line.quantity;
  } else if (line.counts) {
    sums.quantity += line.quantity;
    sums.total_sales += line.price;
  }
}

// Sorted by product and variant, or by name.
std::map<std::string, LineSums> SumLines(db::Session& session, const OrderFilter& filter,
                                         Lines lines) {
  SumsByText<LineSums> sold;
  if (lines == Lines::kFreehand) {
    store::EachLine(session, filter, store::LineKind::kFreehand,
                    [&](const store::Line& line) { Add(line, SumsOf(sold, line.name)); });
  } else {
    store::EachLine(session, filter, store::LineKind::kLinked, [&](const store::Line& line) {
      Add(line, SumsOf(sold, ProductKey(line.product_id, line.variant_id)));
    });
  }
  if (lines == Lines::kProductsWithModifiers) {
    store::EachModifier(session, filter, [&](const store::Modifier& modifier) {
      LineSums& line = SumsOf(sold, ProductKey(modifier.product_id, modifier.variant_id));
      ModifierSums& sums = SumsOf(line.modifiers, modifier.name);
      sums.quantity += modifier.quantity;
      sums.total_sales += modifier.price;
    });
  }
  return {std::make_move_iterator(sold.begin()), std::make_move_iterator(sold.end())};
}

std::optional<std::string> OrNothing(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text;
}

// The current names of the menu; for an item no longer in the menu, those of a sale.
void NameLine(db::Session& session, db::CompanyId company, const std::string& order_id,
              SoldRow& row) {
  const auto item = row.variant_id ? menu::FindVariant(session, company, *row.variant_id)
                                   : menu::FindProduct(session, company, *row.product_id);
  if (item) {
    row.product_name = item->product_name;
    if (row.variant_id) row.variant_name = item->variant_name;
  } else if (auto sold =
                 store::FindName(session, company, order_id, *row.product_id, row.variant_id)) {
    row.product_name = std::move(sold->product_name);
    row.variant_name = std::move(sold->variant_name);
  }
}

std::vector<SoldModifier> SortedModifiers(const SumsByText<ModifierSums>& modifiers) {
  std::vector<SoldModifier> sorted;
  for (const auto& [name, sums] : modifiers) {
    sorted.push_back({.name = name, .quantity = sums.quantity, .total_sales = sums.total_sales});
  }
  std::ranges::sort(sorted, {}, &SoldModifier::name);
  std::ranges::stable_sort(sorted, std::ranges::greater(), &SoldModifier::quantity);
  return sorted;
}

}  // namespace

std::vector<MethodRow> ByPaymentMethods(db::Session& session, const OrderFilter& filter,
                                        DatedBy dated_by) {
  std::vector<MethodRow> rows;
  for (const auto& [id, sums] : SumPayments(session, filter, dated_by)) {
    MethodRow row{.payment_method_id = id,
                  .count = sums.count,
                  .sum_total = sums.sum_total,
                  .tips_total = sums.tips_total,
                  .canceled_count = sums.canceled_count,
                  .canceled_total = sums.canceled_total};
    // All its payments belong to cancelled orders.
    if (row.count == 0 && row.canceled_count == 0) continue;
    NameMethod(session, filter.company, row);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<TipRow> ByTips(db::Session& session, const OrderFilter& filter, DatedBy dated_by) {
  std::vector<TipRow> rows;
  for (const auto& [id, sums] : SumPayments(session, filter, dated_by)) {
    if (sums.tips_count == 0) continue;
    TipRow row{.payment_method_id = id, .count = sums.tips_count, .sum_total = sums.tips_total};
    NameMethod(session, filter.company, row);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<SoldRow> ProductsSold(db::Session& session, const OrderFilter& filter, Lines lines) {
  std::vector<SoldRow> rows;
  for (const auto& [key, sums] : SumLines(session, filter, lines)) {
    if (sums.quantity == 0 && sums.canceled_quantity == 0) continue;
    SoldRow row{.product_id = OrNothing(sums.product_id),
                .variant_id = OrNothing(sums.variant_id),
                .product_name = sums.product_id.empty() ? key : "",
                .quantity = sums.quantity,
                .total_sales = sums.total_sales,
                .canceled_quantity = sums.canceled_quantity,
                .modifiers = SortedModifiers(sums.modifiers)};
    if (row.product_id) NameLine(session, filter.company, sums.order_id, row);
    rows.push_back(std::move(row));
  }
  return rows;
}

Minor AveragePrice(Minor total_sales, int64_t quantity_thousandths) {
  if (quantity_thousandths == 0) return 0;
  const __int128 scaled = static_cast<__int128>(total_sales) * 1000;
  return static_cast<Minor>((scaled + quantity_thousandths / 2) / quantity_thousandths);
}

}  // namespace comanda::reports
