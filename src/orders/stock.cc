#include "orders/stock.h"

#include <utility>

#include "json/writer.h"
#include "menu/menu.h"

namespace comanda::orders {
namespace {

void NoteShortage(json::Writer& out, const Combo& combo) {
  out.BeginObject();
  out.Key("combo_id").Text(combo.id);
  out.Key("product_id").Text(combo.product_id);
  out.Key("variant_id").Text(combo.variant_id);
  out.Key("quantity").Scaled(combo.quantity, kQuantityDecimals);
  out.Key("missing").Scaled(combo.quantity - combo.stock_taken, kQuantityDecimals);
  out.EndObject();
}

}  // namespace

std::string DeductStock(db::Tx& tx, db::CompanyId company, std::vector<Combo*> linked,
                        const db::Stamp& stamp) {
  std::erase_if(linked, [](const Combo* combo) { return !combo->variant_id; });
  std::vector<menu::StockLine> lines;
  for (const Combo* combo : linked) {
    lines.push_back({.variant_id = *combo->variant_id, .quantity = combo->quantity});
  }
  menu::DeductStock(tx, company, lines, stamp);
  std::string note;
  json::Writer out(note);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].taken) continue;
    linked[i]->stock_taken = *lines[i].taken;
    if (*lines[i].taken == lines[i].quantity) continue;
    if (note.empty()) out.BeginObject().Key("stock_warning").BeginArray();
    NoteShortage(out, *linked[i]);
  }
  if (!note.empty()) out.EndArray().EndObject();
  return note;
}

void GiveStockBack(db::Tx& tx, db::CompanyId company, std::span<Combo> combos,
                   const db::Stamp& stamp) {
  std::vector<menu::StockLine> lines;
  for (Combo& combo : combos) {
    const int64_t taken = std::exchange(combo.stock_taken, 0);
    if (taken > 0 && combo.variant_id)
      lines.push_back({.variant_id = *combo.variant_id, .quantity = taken});
  }
  menu::RestoreStock(tx, company, lines, stamp);
}

}  // namespace comanda::orders
