#pragma once

// All SQL of the room.

#include <optional>
#include <string>
#include <string_view>

#include "company/tally.h"
#include "db/session.h"
#include "menu/draft.h"
#include "menu/menu.h"

namespace comanda::menu {

std::optional<Item> SelectProduct(db::Session& session, db::CompanyId company,
                                  std::string_view product_id);
std::optional<Item> SelectVariant(db::Session& session, db::CompanyId company,
                                  std::string_view variant_id);
std::optional<Item> SelectSku(db::Session& session, db::CompanyId company, std::string_view sku);
std::optional<Modifier> SelectModifier(db::Session& session, db::CompanyId company,
                                       std::string_view product_id, std::string_view modifier_id);

bool HasStation(db::Session& session, db::CompanyId company, std::string_view id);
// The variant that has the sku.
std::optional<std::string> SkuHolder(db::Session& session, db::CompanyId company,
                                     std::string_view sku);
// Replaces the stored sku by one that nobody has, where the variant is about to get another or
// none: so that two variants can swap theirs. Upsert() of the variant must follow.
void FreeOtherSku(db::Tx& tx, db::CompanyId company, const VariantDraft& variant);

// Write the one row where it is new or differs, without what stands below it.
company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const StationDraft& station);
company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const CategoryDraft& category,
                        int position);
company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const ProductDraft& product,
                        std::string_view category_id, int position, const db::Stamp& stamp);
company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const VariantDraft& variant,
                        std::string_view product_id, int position);
company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const ModifierCategoryDraft& category,
                        std::string_view product_id, int position);
company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const ModifierDraft& modifier,
                        std::string_view modifier_category_id, std::string_view product_id,
                        int position);
// Something below the product changed: its record did too.
void Touch(db::Tx& tx, db::CompanyId company, std::string_view product_id, const db::Stamp& stamp);

}  // namespace comanda::menu
