#pragma once

// From the order of an app to one of ours (contract section 7).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "company/company.h"
#include "db/session.h"
#include "delivery/orders/app_order.h"
#include "delivery/provider.h"
#include "orders/external_order.h"

namespace comanda::delivery {

// A text of the app within our limits (contract section 1, Text): controls are blanks, and what is
// beyond the limit is cut off.
std::string Taken(std::string_view text, size_t characters_max);

// Order::source of an app's orders: its name in capitals. And the actor that changes them.
std::string SourceNameOf(std::string_view app);
std::string ActorOf(std::string_view app);

struct Converted {
  orders::ExternalOrder whole;
  // What had to be added to the rows of the app, so that they make the app's total; below zero:
  // taken off. In minor units.
  Minor adjustment = 0;
  // The app's code of each modifier of each line.
  std::vector<std::vector<std::optional<std::string>>> option_codes = {};
};
// Pure but for the ids, which are new, and the public numbers. The lines are not linked to the
// menu, and the payment has no method: see Complete(). Refusal out_of_range where a sum exceeds the
// bound.
Converted Convert(const AppOrder& order, const Provider& provider, const company::Company& company,
                  UtcMs now);

// Links lines and options to the menu by their codes, and gives the payment its method. In the
// transaction that places the order.
void Complete(db::Session& session, const company::Company& company, std::string_view app,
              Converted& converted);

// The codes of the app's payment methods: paid through the app, and at the door.
std::string OnlineMethodOf(std::string_view app);
std::string OfflineMethodOf(std::string_view app);

}  // namespace comanda::delivery
