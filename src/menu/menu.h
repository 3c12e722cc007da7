#pragma once

// The menu as orders use it: what a line of an order refers to, and the stock that it takes
// (contract section 7, Combos; section 9; section 19, Orders). Functions run in the caller's
// transaction, and throw Fault on a database error.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/row_count.h"
#include "db/session.h"
#include "menu/product.h"

namespace comanda::menu {

// A product, or one of its variants, with what a line of an order copies from it.
struct Item {
  std::string product_id;
  std::string product_name;
  std::string category_name;
  std::optional<std::string> kitchen_id;
  bool stock_enabled = false;
  // Of the variant; nothing if a product with several variants was asked for.
  std::optional<std::string> variant_id, variant_name, sku;
};

// The product, with its variant if it has exactly one. Each of these functions returns nothing for
// an unknown id or sku.
std::optional<Item> FindProduct(db::Session& session, db::CompanyId company,
                                std::string_view product_id);
std::optional<Item> FindVariant(db::Session& session, db::CompanyId company,
                                std::string_view variant_id);
// Of several skus that differ only in case the one that is spelt like this, else the oldest
// product's; without what stands around the sku that is looked for.
std::optional<Item> FindSku(db::Session& session, db::CompanyId company, std::string_view sku);
// A modifier of this product.
std::optional<Modifier> FindModifier(db::Session& session, db::CompanyId company,
                                     std::string_view product_id, std::string_view modifier_id);
// The name of the group that holds the modifier with that id.
std::optional<std::string> FindModifierGroup(db::Session& session, db::CompanyId company,
                                             std::string_view modifier_id);
// The modifier of this product with that sku; the first one where several have it.
std::optional<Modifier> FindModifierBySku(db::Session& session, db::CompanyId company,
                                          std::string_view product_id, std::string_view sku);

// A quantity of one variant, in thousandths.
struct StockLine {
  std::string variant_id;
  int64_t quantity = 0;
  // Set by DeductStock() if the variant's stock is counted: the part of the quantity that was in
  // stock.
  std::optional<int64_t> taken = std::nullopt;
};

// Subtracts the quantities from the stock, which never falls below zero. Stock is counted if the
// product has stock_enabled and the variant has a stock. A product of which a variant's `available`
// flips gets its event.
void DeductStock(db::Tx& tx, db::CompanyId company, std::vector<StockLine>& lines,
                 const db::Stamp& stamp);
// Adds the quantities to the stock, where it is still counted.
void RestoreStock(db::Tx& tx, db::CompanyId company, const std::vector<StockLine>& lines,
                  const db::Stamp& stamp);

// The menu as the kitchen reads it: what can be made, and what it is made with.
struct Extra {
  std::string id, name;
  std::optional<SoldOut> sold_out;
};
struct Dish {
  std::string id, name;
  std::optional<std::string> station_id;
  bool available = true;  // IsAvailable()
  std::optional<SoldOut> sold_out;
  std::vector<Extra> extras;
};
struct DishList {
  std::string category_id, category_name;
  std::vector<Dish> dishes;
};
// All products of all categories, in the order of the menu.
std::vector<DishList> AllDishes(db::Session& session, db::CompanyId company);

// Stores that a display watched the station at that time.
void NoteWatched(db::Tx& tx, db::CompanyId company, std::string_view station_id, UtcMs at);

// Deletes the whole menu of a company. For resetting the sandbox only.
void EraseAll(db::Tx& tx, db::CompanyId company);

// The products that were created up to that time, for `comanda drill`.
db::RowCount CountUpTo(db::Session& session, db::CompanyId company, int64_t last);

}  // namespace comanda::menu
