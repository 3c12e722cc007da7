#pragma once

// All SQL of the room; also that of the functions of menu/menu.h that find an order's items.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/session.h"
#include "menu/menu.h"
#include "menu/product.h"

namespace comanda::menu {

// Rows as they are stored.

std::vector<Station> SelectStations(db::Session& session, db::CompanyId company);
// In order.
std::vector<Category> SelectCategories(db::Session& session, db::CompanyId company);
std::optional<Category> SelectCategory(db::Session& session, db::CompanyId company,
                                       std::string_view id);
enum class Depth : uint8_t { kVariants, kModifiers };
// A product with its variants, and (kModifiers) its modifiers too.
std::optional<Product> SelectWhole(db::Session& session, db::CompanyId company, std::string_view id,
                                   Depth depth);
// The product that a row stands below, or nothing where there is no such row.
std::optional<std::string> ProductOfVariant(db::Session& session, db::CompanyId company,
                                            std::string_view id);
std::optional<std::string> ProductOfModifierCategory(db::Session& session, db::CompanyId company,
                                                     std::string_view id);
std::optional<std::string> ProductOfModifier(db::Session& session, db::CompanyId company,
                                             std::string_view id);
// Behind the category's last product.
int64_t NextPosition(db::Session& session, db::CompanyId company, std::string_view category_id);

// Rendered records (menu/record.h).

struct StoredRecord {
  std::string product_id;
  bool visible = true;
  bool available = true;
  UtcMs updated_at = 0;
  std::string json;             // empty where it is stale
  std::vector<int64_t> stocks;  // in thousandths, of the variants that are counted, in order
};
// Of the category's products, in order, each as it is read.
void EachRecord(db::Session& session, db::CompanyId company, std::string_view category_id,
                int64_t render_version, std::string_view currency,
                const std::function<void(StoredRecord&)>& use);
void PutRecord(db::Tx& tx, db::CompanyId company, const Product& product, int64_t render_version,
               std::string_view currency, std::string_view json);
// The ids of products whose record is stale, at most so many.
std::vector<std::string> SelectStale(db::Session& session, db::CompanyId company,
                                     int64_t render_version, std::string_view currency, int limit);

// Writing one row, without those below it. Upsert() does not look whether anything differs; a
// product's raises its version.

void Upsert(db::Tx& tx, db::CompanyId company, const Station& station);
void Upsert(db::Tx& tx, db::CompanyId company, const Category& category);
void Upsert(db::Tx& tx, db::CompanyId company, const Product& product, const db::Stamp& stamp);
void Upsert(db::Tx& tx, db::CompanyId company, const Variant& variant, std::string_view product_id);
void Upsert(db::Tx& tx, db::CompanyId company, const ModifierCategory& category,
            std::string_view product_id);
void Upsert(db::Tx& tx, db::CompanyId company, const Modifier& modifier,
            std::string_view modifier_category_id, std::string_view product_id);
// The stored modifiers of a category that moves to the product.
void MoveModifiers(db::Tx& tx, db::CompanyId company, const ModifierCategory& category,
                   std::string_view product_id);
// Replaces the variant's sku by one that no other has, where it is about to get another (or none):
// so that two variants can swap theirs. Upsert() of the variant must follow.
void FreeOtherSku(db::Tx& tx, db::CompanyId company, const Variant& variant);
// Raises the product's version: something below it changed.
void Touch(db::Tx& tx, db::CompanyId company, std::string_view product_id, const db::Stamp& stamp);

// Stock.

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

}  // namespace comanda::menu
