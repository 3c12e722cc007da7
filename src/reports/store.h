#pragma once

// All SQL of the room. Each function runs over one interval; reports.cc adds them up.

#include <functional>

#include "db/session.h"
#include "reports/report.h"

namespace comanda::reports::store {

// Payments by method: with tips in `tips_total` and their number in `tips_count`.
struct PaymentSums {
  std::string payment_method_id;
  int64_t count = 0;
  Minor sum_total = 0;
  int64_t tips_count = 0;
  Minor tips_total = 0;
  int64_t canceled_count = 0;
  Minor canceled_total = 0;
};
void EachPaymentSum(db::Session& session, const Question& question, Interval moment,
                    const std::function<void(const PaymentSums&)>& add);

// Lines that are linked to the menu, by product and variant; or the others, by name.
void EachLinkedSum(db::Session& session, const Question& question, Interval moment,
                   const std::function<void(const SoldRow&)>& add);
void EachFreehandSum(db::Session& session, const Question& question, Interval moment,
                     const std::function<void(const SoldRow&)>& add);

// Modifiers of linked lines, by product, variant and the modifier's name.
struct ModifierSums {
  std::string product_id;
  std::optional<std::string> variant_id;
  SoldModifier modifier;
};
void EachModifierSum(db::Session& session, const Question& question, Interval moment,
                     const std::function<void(const ModifierSums&)>& add);

}  // namespace comanda::reports::store
