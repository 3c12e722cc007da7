#pragma once

// The face of the room: what an order's line links to (contract section 7, Combos; section 19,
// Orders).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/session.h"

namespace comanda::menu {

struct Modifier {
  std::string id;
  std::string name;
};

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

}  // namespace comanda::menu
