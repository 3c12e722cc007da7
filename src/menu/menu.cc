#include "menu/menu.h"

#include <algorithm>
#include <set>

#include "company/companies.h"
#include "menu/catalogue.h"
#include "menu/store.h"

namespace comanda::menu {
namespace {

// Writes the count. True if that flips `available`.
bool MoveStock(db::Tx& tx, db::CompanyId company, const StockLine& line,
               const CountedVariant& counted, int64_t stock) {
  if (stock == counted.stock) return false;
  SetStock(tx, company, line.variant_id, stock);
  const bool flips = (stock > 0) != (counted.stock > 0);
  return flips && counted.stock_enabled && counted.may_be_available;
}

void NoteFlips(db::Tx& tx, db::CompanyId company, const std::set<std::string>& product_ids,
               const db::Stamp& stamp) {
  if (product_ids.empty()) return;
  const company::Company owner = company::Get(tx, company);
  for (const std::string& id : product_ids) NoteChange(tx, owner, id, stamp);
}

}  // namespace

void DeductStock(db::Tx& tx, db::CompanyId company, std::vector<StockLine>& lines,
                 const db::Stamp& stamp) {
  std::set<std::string> flipped;
  for (StockLine& line : lines) {
    const std::optional<CountedVariant> counted = SelectCounted(tx, company, line.variant_id);
    if (!counted || !counted->stock_enabled) continue;
    line.taken = std::min(line.quantity, counted->stock);
    if (MoveStock(tx, company, line, *counted, counted->stock - *line.taken)) {
      flipped.insert(counted->product_id);
    }
  }
  NoteFlips(tx, company, flipped, stamp);
}

void RestoreStock(db::Tx& tx, db::CompanyId company, const std::vector<StockLine>& lines,
                  const db::Stamp& stamp) {
  std::set<std::string> flipped;
  for (const StockLine& line : lines) {
    const std::optional<CountedVariant> counted = SelectCounted(tx, company, line.variant_id);
    if (!counted) continue;
    if (MoveStock(tx, company, line, *counted, counted->stock + line.quantity)) {
      flipped.insert(counted->product_id);
    }
  }
  NoteFlips(tx, company, flipped, stamp);
}

}  // namespace comanda::menu
