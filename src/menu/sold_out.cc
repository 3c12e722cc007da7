#include "menu/sold_out.h"

#include <algorithm>

#include "base/problem.h"
#include "company/companies.h"
#include "menu/catalogue.h"
#include "menu/store.h"

namespace comanda::menu {
namespace {

// What is to be stored; nothing where that is stored already.
struct Next {
  bool is_change = false;
  std::optional<SoldOut> sold_out;
};
Next NextOf(const std::optional<SoldOut>& now, const std::optional<SoldOut>& wanted) {
  if (!now || !wanted)
    return {.is_change = now.has_value() != wanted.has_value(), .sold_out = wanted};
  if (now->until == wanted->until) return {.is_change = false, .sold_out = now};
  Next next{.is_change = true, .sold_out = wanted};
  next.sold_out->since = now->since;
  return next;
}

}  // namespace

SoldOutState SetProductSoldOut(db::Tx& tx, const company::Company& company, std::string_view id,
                               const std::optional<SoldOut>& wanted, const db::Stamp& stamp) {
  Product product = GetProduct(tx, company.company_id, id);
  const Next next = NextOf(product.sold_out, wanted);
  if (next.is_change) {
    SetSoldOutOfProduct(tx, company.company_id, id, next.sold_out);
    NoteChange(tx, company, id, stamp);
    product.sold_out = next.sold_out;
  }
  return {.name = product.name, .is_available = IsAvailable(product), .sold_out = product.sold_out};
}

SoldOutState SetModifierSoldOut(db::Tx& tx, const company::Company& company, std::string_view id,
                                const std::optional<SoldOut>& wanted, const db::Stamp& stamp) {
  const auto modifier = SelectModifier(tx, company.company_id, id);
  if (!modifier) throw Refusal(Problem::kNotFound, "There is no modifier with that id.");
  const Next next = NextOf(modifier->sold_out, wanted);
  if (next.is_change) {
    SetSoldOutOfModifier(tx, company.company_id, id, next.sold_out);
    NoteChange(tx, company, modifier->product_id, stamp);
  }
  const std::optional<SoldOut>& sold_out = next.is_change ? next.sold_out : modifier->sold_out;
  return {
      .name = modifier->name, .is_available = modifier->visible && !sold_out, .sold_out = sold_out};
}

std::optional<int64_t> SoldOutEnds::DueInMs() const {
  try {
    const auto first =
        database_.Read([](db::Snapshot& snapshot) { return FirstEndOfSoldOut(snapshot); });
    if (!first) return std::nullopt;
    return std::max<int64_t>(*first - clock_.SettledNow(), 0);
  } catch (const Fault&) {  // asked again within a second
    return std::nullopt;
  }
}

void SoldOutEnds::WriteDown() {
  const std::lock_guard lock(mutex_);
  const UtcMs now = std::max(clock_.SettledNow(), reached_.value_or(0));
  const bool any = database_.Read([&](db::Snapshot& snapshot) {
    return FirstEndOfSoldOut(snapshot).value_or(INT64_MAX) <= now;
  });
  if (!any) {
    reached_.reset();
    return;
  }
  reached_ = now;
  database_.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    std::optional<company::Company> company;
    for (const SoldOutRow& row : SelectSoldOutUntil(tx, now)) {
      if (!company || company->company_id != row.company) company = company::Get(tx, row.company);
      if (row.is_product) {
        SetProductSoldOut(tx, *company, row.id, std::nullopt, stamp);
      } else {
        SetModifierSoldOut(tx, *company, row.id, std::nullopt, stamp);
      }
    }
  });
  reached_.reset();
}

}  // namespace comanda::menu
