#include "delivery/orders/amounts.h"

#include <utility>

namespace comanda::delivery {
namespace {

// Of at most 500 lines, each within the bound of money: no sum overflows.
bool AddsUp(const AppOrder& order, const Fees& fees, const Discounts& discounts) {
  Minor sum = fees.delivery + fees.other;
  for (const AppLine& line : order.lines) sum += line.total;
  for (const AppDiscount& discount : discounts) sum -= discount.amount;
  return sum == order.total;
}

}  // namespace

void ChooseAmounts(AppOrder& order, const std::vector<Fees>& fees,
                   const std::vector<Discounts>& discounts) {
  const Fees* chosen_fees = &fees.front();
  const Discounts* chosen_discounts = &discounts.front();
  const auto choose = [&] {
    for (const Discounts& some_discounts : discounts) {
      for (const Fees& some_fees : fees) {
        if (!AddsUp(order, some_fees, some_discounts)) continue;
        chosen_fees = &some_fees;
        chosen_discounts = &some_discounts;
        return;
      }
    }
  };
  choose();
  order.delivery_fee = chosen_fees->delivery;
  order.other_fees = chosen_fees->other;
  order.discounts = *chosen_discounts;
}

Discounts OneDiscount(Minor amount, std::string reason) {
  if (amount == 0) return {};
  return {{amount, std::move(reason)}};
}

}  // namespace comanda::delivery
