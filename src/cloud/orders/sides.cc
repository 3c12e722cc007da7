#include "cloud/orders/sides.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/concat.h"
#include "base/decimal.h"
#include "base/log.h"
#include "base/time/zone.h"
#include "cloud/orders/journal_store.h"
#include "cloud/orders/next.h"
#include "company/companies.h"

namespace comanda::cloud {
namespace {

using orders::Order;

std::string MoneyText(Minor amount, int decimals) {
  std::string text;
  AppendScaled(text, amount, decimals);
  return text;
}

// "total 12.5, paid 10", of those that the cloud shows.
std::string FiguresOf(const Order& order, const CloudRecord& shown) {
  std::string text;
  const auto add = [&](bool is_shown, std::string_view name, Minor amount) {
    if (!is_shown) return;
    text +=
        Concat({text.empty() ? "" : ", ", name, " ", MoneyText(amount, order.currency_decimals)});
  };
  add(shown.shows.total, "total", order.totals.total);
  add(shown.shows.total_paid, "paid", order.totals.total_paid);
  return text;
}

// In the order of kFieldNames; empty: null.
std::array<std::string, kFieldNames.size()> TextsOf(const Order& order) {
  const Fields fields = FieldsOf(order);
  return {fields.comment.value_or(""),
          fields.order_title.value_or(""),
          fields.delivery_comment.value_or(""),
          fields.scheduled_delivery_date ? FormatInstant(*fields.scheduled_delivery_date) : "",
          MoneyText(fields.delivery_price, order.currency_decimals),
          MoneyText(fields.packaging_price, order.currency_decimals)};
}

template <typename Rows>
std::string CountOf(const Rows& rows) {
  const auto is_active = [](const auto& row) {
    if constexpr (requires { row.canceled_at; }) return !row.canceled_at.has_value();
    return true;
  };
  return std::to_string(std::ranges::count_if(rows, is_active));
}

constexpr DifferenceKind KindOfField(size_t index) {
  return static_cast<DifferenceKind>(static_cast<size_t>(DifferenceKind::kComment) + index);
}
static_assert([] {
  for (size_t i = 0; i < kFieldNames.size(); ++i) {
    if (Name(KindOfField(i)) != kFieldNames[i]) return false;
  }
  return true;
}());

class Comparison {
 public:
  Comparison(db::Tx& tx, const Order& here, UtcMs now)
      : tx_(tx),
        here_(here),
        now_(now),
        known_(store::KindsOfDifferences(tx, here.company, here.id)) {}

  void Compare(DifferenceKind kind, const std::string& here, const std::string& there) {
    if (here == there) {
      const bool is_known = known_.contains(kind);
      if (is_known) store::RemoveDifference(tx_, here_.company, here_.id, kind);
      return;
    }
    const Difference difference{
        .order_id = here_.id, .kind = kind, .box = here, .cloud = there, .detail = ""};
    if (!store::PutDifference(tx_, here_.company, difference, now_)) return;
    log::Warning("an order differs in the cloud",
                 {{"order", here_.id}, {"member", Name(kind)}, {"here", here}, {"cloud", there}});
  }

 private:
  db::Tx& tx_;
  const Order& here_;
  const UtcMs now_;
  const std::set<DifferenceKind> known_;
};

}  // namespace

void CompareSides(db::Tx& tx, const Order& here, const CloudRecord& there, const Mirror& mirror,
                  UtcMs now) {
  Comparison comparison(tx, here, now);
  comparison.Compare(DifferenceKind::kTotals, FiguresOf(here, there),
                     FiguresOf(there.order, there));
  const auto texts_here = TextsOf(here);
  const auto texts_there = TextsOf(there.order);
  for (size_t i = 0; i < kFieldNames.size(); ++i) {
    const bool is_given_up =
        kFieldNames[i] == "scheduled_delivery_date" && HasGivenUpDate(mirror, FieldsOf(here));
    if (is_given_up || !there.fields.contains(kFieldNames[i])) continue;
    comparison.Compare(KindOfField(i), texts_here[i], texts_there[i]);
  }
  const Order& shown = there.order;
  if (there.shows.combos)
    comparison.Compare(DifferenceKind::kCombos, CountOf(here.combos), CountOf(shown.combos));
  if (there.shows.payments) {
    comparison.Compare(DifferenceKind::kPayments, CountOf(here.payments), CountOf(shown.payments));
  }
  if (there.shows.discounts) {
    comparison.Compare(DifferenceKind::kDiscounts, CountOf(here.discounts),
                       CountOf(shown.discounts));
  }
  if (there.shows.rider) {
    const auto name = [](const Order& order) {
      return order.rider ? order.rider->name.value_or("?") : std::string();
    };
    const bool is_shown = !shown.rider || shown.rider->name;
    if (is_shown && !HasGivenUpRider(mirror))
      comparison.Compare(DifferenceKind::kRider, name(here), name(shown));
  }
}

void CompareBusinessDays(db::Tx& tx, const company::Company& company, UtcMs created_here,
                         UtcMs created_there, UtcMs now) {
  const Days days = company::BusinessDays(company);
  const Day here = days.Of(created_here);
  const Day there = days.Of(created_there);
  if (here == there) return;
  store::CountDate(tx, company.company_id, FormatDay(here), FormatDay(there), now);
}

}  // namespace comanda::cloud
