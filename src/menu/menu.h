#pragma once

// The face of the room for orders: what a line links to, and the stock that it takes (contract
// section 7, Combos; section 9; section 19, Orders).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/session.h"
#include "menu/product.h"

namespace comanda::menu {

// A product or one of its variants as an order's line takes it over.
struct Item {
  std::string product_id;
  std::string product_name;
  std::string category_name;
  std::optional<std::string> kitchen_id;
  bool stock_enabled = false;
  // Of the variant; absent where a product with several variants was named alone.
  std::optional<std::string> variant_id, variant_name, sku;
};

// The product alone (with its only variant, where it has just one), or nothing.
std::optional<Item> FindProduct(db::Session& session, db::CompanyId company,
                                std::string_view product_id);
std::optional<Item> FindVariant(db::Session& session, db::CompanyId company,
                                std::string_view variant_id);
std::optional<Item> FindSku(db::Session& session, db::CompanyId company, std::string_view sku);
// A modifier of that product, or nothing.
std::optional<Modifier> FindModifier(db::Session& session, db::CompanyId company,
                                     std::string_view product_id, std::string_view modifier_id);

// Some units of a variant, in thousandths.
struct StockLine {
  std::string variant_id;
  int64_t quantity = 0;
  // Where the variant's stock is counted: how much of the quantity there was.
  std::optional<int64_t> taken = std::nullopt;
};

// Stock falls by the quantities, never below zero, where it is counted (the product's stock_enabled
// and the variant's stock). A product of which `available` flips for a variant gets its event.
void TakeStock(db::Tx& tx, db::CompanyId company, std::vector<StockLine>& lines,
               const db::Stamp& stamp);
// Stock rises by the quantities, where it is still counted.
void GiveBackStock(db::Tx& tx, db::CompanyId company, const std::vector<StockLine>& lines,
                   const db::Stamp& stamp);

// Forgets the whole menu of a company: for the sandbox alone.
void EraseAll(db::Tx& tx, db::CompanyId company);

}  // namespace comanda::menu
