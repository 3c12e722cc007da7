#pragma once

// Which of the amounts that an app tells are part of the order's total. Apps tell fees and
// discounts in more than one place, and not always the same in each. Pure.

#include <vector>

#include "delivery/orders/app_order.h"

namespace comanda::delivery {

struct Fees {
  Minor delivery = 0, other = 0;
};
using Discounts = std::vector<AppDiscount>;

// Sets fees and discounts of the order to the first pair with which its lines make its total; to
// the first of each where no pair does. Neither list is empty; what is documented comes first.
void ChooseAmounts(AppOrder& order, const std::vector<Fees>& fees,
                   const std::vector<Discounts>& discounts);

// One discount of that amount and reason; none where it is 0.
Discounts OneDiscount(Minor amount, std::string reason);

}  // namespace comanda::delivery
