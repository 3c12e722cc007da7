#pragma once

// All SQL of this room, including the Find... functions of menu/menu.h. Functions throw Fault on a
// database error.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/session.h"
#include "menu/menu.h"
#include "menu/product.h"

namespace comanda::menu {

// Rows as they are stored.

std::vector<Station> SelectStations(db::Session& session, db::CompanyId company);
// Sorted by position.
std::vector<Category> SelectCategories(db::Session& session, db::CompanyId company);
std::optional<Category> SelectCategory(db::Session& session, db::CompanyId company,
                                       std::string_view id);
// What SelectWhole() loads: the product with its variants, or with its modifiers too.
enum class Depth : uint8_t { kVariants, kModifiers };
// A product with the rows below it.
std::optional<Product> SelectWhole(db::Session& session, db::CompanyId company, std::string_view id,
                                   Depth depth);
// The id of the product that owns the row; nothing for an unknown id.
std::optional<std::string> ProductOfVariant(db::Session& session, db::CompanyId company,
                                            std::string_view id);
std::optional<std::string> ProductOfModifierCategory(db::Session& session, db::CompanyId company,
                                                     std::string_view id);
std::optional<std::string> ProductOfModifier(db::Session& session, db::CompanyId company,
                                             std::string_view id);
// The position after the last product of the category.
int64_t NextPosition(db::Session& session, db::CompanyId company, std::string_view category_id);

// The visible products in the order of the menu.
std::vector<ShownProduct> SelectShown(db::Session& session, db::CompanyId company);

// Rendered records (menu/record.h).

// A rendered record (menu/record.h) with what is needed to filter and to fill it.
struct StoredRecord {
  std::string product_id, category_id;
  bool visible = true;
  bool available = true;
  UtcMs updated_at = 0;
  // Empty if the record is stale.
  std::string json;
  // In thousandths: the counted variants, in order.
  std::vector<int64_t> stocks;
};
// Calls `use` for each product of these categories: those of one category together, sorted by
// position, the categories by their ids.
void EachRecord(db::Session& session, db::CompanyId company, std::span<const Category> categories,
                int64_t render_version, std::string_view currency,
                const std::function<void(StoredRecord&)>& use);
void PutRecord(db::Tx& tx, db::CompanyId company, const Product& product, int64_t render_version,
               std::string_view currency, std::string_view json);
// The ids of products whose record is stale, at most `limit`.
std::vector<std::string> SelectStale(db::Session& session, db::CompanyId company,
                                     int64_t render_version, std::string_view currency, int limit);

// Skus.

struct HeldSku {
  std::string id;
  std::string sku;
};
// The variants whose skus equal this one, case ignored.
std::vector<HeldSku> SelectHolders(db::Session& session, db::CompanyId company,
                                   std::string_view sku);
// How a modifier of the company spells this sku: as it is written here if any does, else as the
// oldest one does, in another case. Nothing if no modifier has it.
std::optional<std::string> FindSpellingOfModifiers(db::Session& session, db::CompanyId company,
                                                   std::string_view sku);
// Skus of one company that differ only in case and in what stands around them. Databases of older
// programs have such.
struct TwinSkus {
  db::CompanyId company;
  std::vector<std::string> skus;
};
std::vector<TwinSkus> SelectTwinSkus(db::Session& session);

// Writing.

// Upsert() writes one row, without the rows below it, even if it is equal. Upserting a product
// raises its version.
void Upsert(db::Tx& tx, db::CompanyId company, const Station& station);
void Upsert(db::Tx& tx, db::CompanyId company, const Category& category);
void Upsert(db::Tx& tx, db::CompanyId company, const Product& product, const db::Stamp& stamp);
void Upsert(db::Tx& tx, db::CompanyId company, const Variant& variant, std::string_view product_id);
void Upsert(db::Tx& tx, db::CompanyId company, const ModifierCategory& category,
            std::string_view product_id);
void Upsert(db::Tx& tx, db::CompanyId company, const Modifier& modifier,
            std::string_view modifier_category_id, std::string_view product_id);
// Moves the stored modifiers of the category to the product, to which the category itself moves.
void MoveModifiers(db::Tx& tx, db::CompanyId company, const ModifierCategory& category,
                   std::string_view product_id);
// If the variant is about to change its sku, replaces the stored one by a unique placeholder, so
// that two variants can swap theirs under the unique index. Upsert() of the variant must follow.
void FreeOtherSku(db::Tx& tx, db::CompanyId company, const Variant& variant);
// Raises the product's version, after a change of a row below it.
void Touch(db::Tx& tx, db::CompanyId company, std::string_view product_id, const db::Stamp& stamp);

// Sold out (menu/sold_out.h).

struct ShownModifier {
  std::string product_id, name;
  bool visible = true;
  std::optional<SoldOut> sold_out;
};
std::optional<ShownModifier> SelectModifier(db::Session& session, db::CompanyId company,
                                            std::string_view id);
void SetSoldOutOfProduct(db::Tx& tx, db::CompanyId company, std::string_view id,
                         const std::optional<SoldOut>& sold_out);
void SetSoldOutOfModifier(db::Tx& tx, db::CompanyId company, std::string_view id,
                          const std::optional<SoldOut>& sold_out);
// The first end of all companies; nothing if none has one.
std::optional<UtcMs> FirstEndOfSoldOut(db::Session& session);
struct SoldOutRow {
  db::CompanyId company;
  std::string id;
  std::string product_id;  // of a modifier its product's
  bool is_product = true;
};
// Those of all companies whose end has come at that time; those of one product one after the other.
std::vector<SoldOutRow> SelectSoldOutUntil(db::Session& session, UtcMs at);

// Stock.

// A variant whose stock is counted.
struct CountedVariant {
  std::string product_id;
  int64_t stock = 0;
  // Of the product; false: the count has no effect.
  bool stock_enabled = false;
  // Of the product: visible and not sold out.
  bool may_be_available = true;
};
std::optional<CountedVariant> SelectCounted(db::Session& session, db::CompanyId company,
                                            std::string_view variant_id);
void SetStock(db::Tx& tx, db::CompanyId company, std::string_view variant_id, int64_t stock);

}  // namespace comanda::menu
