#include "menu/menu.h"

#include "menu/store.h"

namespace comanda::menu {

std::optional<Item> FindProduct(db::Session& session, db::CompanyId company,
                                std::string_view product_id) {
  return SelectProduct(session, company, product_id);
}

std::optional<Item> FindVariant(db::Session& session, db::CompanyId company,
                                std::string_view variant_id) {
  return SelectVariant(session, company, variant_id);
}

std::optional<Item> FindSku(db::Session& session, db::CompanyId company, std::string_view sku) {
  return SelectSku(session, company, sku);
}

std::optional<Modifier> FindModifier(db::Session& session, db::CompanyId company,
                                     std::string_view product_id, std::string_view modifier_id) {
  return SelectModifier(session, company, product_id, modifier_id);
}

}  // namespace comanda::menu
