#pragma once

// All SQL of the room.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "company/tally.h"
#include "db/session.h"
#include "menu/menu.h"
#include "menu/product.h"

namespace comanda::menu {

// -- what orders link to --------------------------------------------------------------------------

std::optional<Item> SelectProduct(db::Session& session, db::CompanyId company,
                                  std::string_view product_id);
std::optional<Item> SelectVariant(db::Session& session, db::CompanyId company,
                                  std::string_view variant_id);
std::optional<Item> SelectSku(db::Session& session, db::CompanyId company, std::string_view sku);
std::optional<Modifier> SelectModifier(db::Session& session, db::CompanyId company,
                                       std::string_view product_id, std::string_view modifier_id);

// -- products as GET shows them -------------------------------------------------------------------

// In order, without their products.
std::vector<Category> SelectCategories(db::Session& session, db::CompanyId company);
std::optional<Category> SelectCategory(db::Session& session, db::CompanyId company,
                                       std::string_view id);
// Those of the category in order, with everything below them.
std::vector<Product> SelectProducts(db::Session& session, db::CompanyId company,
                                    std::string_view category_id);
enum class Depth : uint8_t { kVariants, kModifiers };
// With its variants, and (kModifiers) its modifiers too.
std::optional<Product> SelectWhole(db::Session& session, db::CompanyId company, std::string_view id,
                                   Depth depth);

// -- their rendered records (menu/record.h)
// --------------------------------------------------------

struct StoredRecord {
  std::string product_id;
  bool visible = true;
  bool available = true;
  UtcMs updated_at = 0;
  std::string json;  // empty where it is stale
};
// Of the category's products, in order.
std::vector<StoredRecord> SelectRecords(db::Session& session, db::CompanyId company,
                                        std::string_view category_id, int64_t render_version,
                                        std::string_view currency);
void PutRecord(db::Tx& tx, db::CompanyId company, const Product& product, int64_t render_version,
               std::string_view currency, std::string_view json);
// Counted stock of the category's products: product and thousandths, in the order of their records.
struct StockRow {
  std::string product_id;
  int64_t stock = 0;
};
std::vector<StockRow> SelectStocks(db::Session& session, db::CompanyId company,
                                   std::string_view category_id);
// Products of any company whose record is stale, at most so many.
struct StaleRow {
  db::CompanyId company = 0;
  std::string product_id;
};
std::vector<StaleRow> SelectStale(db::Session& session, int64_t render_version, int limit);

// -- what is there --------------------------------------------------------------------------------

bool HasStation(db::Session& session, db::CompanyId company, std::string_view id);
// The product that a row stands below, or nothing where there is no such row.
std::optional<std::string> ProductOfVariant(db::Session& session, db::CompanyId company,
                                            std::string_view id);
std::optional<std::string> ProductOfModifierCategory(db::Session& session, db::CompanyId company,
                                                     std::string_view id);
std::optional<std::string> ProductOfModifier(db::Session& session, db::CompanyId company,
                                             std::string_view id);
// The variant that has the sku.
struct VariantRow {
  std::string product_id, variant_id;
};
std::optional<VariantRow> SkuHolder(db::Session& session, db::CompanyId company,
                                    std::string_view sku);
// Behind the category's last product.
int64_t NextPosition(db::Session& session, db::CompanyId company, std::string_view category_id);

// -- writing --------------------------------------------------------------------------------------

// Replaces the variant's sku by one that nobody has, where it is about to get another (or none): so
// that two variants can swap theirs. Upsert() of the variant must follow.
void FreeOtherSku(db::Tx& tx, db::CompanyId company, std::string_view variant_id,
                  const std::optional<std::string>& sku);

// Write the one row where it is new or differs, without what stands below it.
company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const Station& station);
company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const Category& category);
company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const Product& product,
                        const db::Stamp& stamp);
// A variant without a stock keeps the one that is stored.
company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const Variant& variant,
                        std::string_view product_id);
company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const ModifierCategory& category,
                        std::string_view product_id);
company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const Modifier& modifier,
                        std::string_view modifier_category_id, std::string_view product_id);
// Something below the product changed: its record did too.
void Touch(db::Tx& tx, db::CompanyId company, std::string_view product_id, const db::Stamp& stamp);

// -- stock ----------------------------------------------------------------------------------------

// A variant whose stock is counted.
struct Counted {
  std::string product_id;
  int64_t stock = 0;
  bool stock_enabled = false;  // else the count says nothing
  bool visible = true;         // the product
};
std::optional<Counted> SelectCounted(db::Session& session, db::CompanyId company,
                                     std::string_view variant_id);
void SetStock(db::Tx& tx, db::CompanyId company, std::string_view variant_id, int64_t stock);
void ClearStock(db::Tx& tx, db::CompanyId company, std::string_view variant_id);

}  // namespace comanda::menu
