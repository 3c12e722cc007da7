#include "menu/store.h"

namespace comanda::menu {
namespace {

Item ReadItem(const db::Rows& row) {
  Item item;
  item.product_id = row.Text(0);
  item.product_name = row.Text(1);
  item.category_name = row.Text(2);
  item.kitchen_id = row.OptionalText(3);
  item.stock_enabled = row.Bool(4);
  return item;
}

void ReadVariant(const db::Rows& row, int column, Item& item) {
  item.variant_id = row.OptionalText(column);
  item.variant_name = row.OptionalText(column + 1);
  item.sku = row.OptionalText(column + 2);
}

std::optional<Item> OneItem(std::optional<db::Rows> row) {
  if (!row) return std::nullopt;
  Item item = ReadItem(*row);
  ReadVariant(*row, 5, item);
  return item;
}

}  // namespace

std::optional<Item> SelectProduct(db::Session& session, db::CompanyId company,
                                  std::string_view product_id) {
  return OneItem(session.One(
      "SELECT p.id, p.name, c.name, p.kitchen_id, p.stock_enabled, v.id, v.name, v.sku FROM "
      "product p"
      " JOIN category c ON c.company_id = p.company_id AND c.id = p.category_id"
      " LEFT JOIN variant v ON v.company_id = p.company_id AND v.product_id = p.id"
      " AND NOT EXISTS (SELECT 1 FROM variant other WHERE other.company_id = v.company_id"
      " AND other.product_id = v.product_id AND other.id <> v.id)"
      " WHERE p.company_id = $1 AND p.id = $2",
      company, product_id));
}

std::optional<Item> SelectVariant(db::Session& session, db::CompanyId company,
                                  std::string_view variant_id) {
  return OneItem(
      session.One("SELECT p.id, p.name, c.name, p.kitchen_id, p.stock_enabled, v.id, v.name, v.sku "
                  "FROM variant v"
                  " JOIN product p ON p.company_id = v.company_id AND p.id = v.product_id"
                  " JOIN category c ON c.company_id = p.company_id AND c.id = p.category_id"
                  " WHERE v.company_id = $1 AND v.id = $2",
                  company, variant_id));
}

std::optional<Item> SelectSku(db::Session& session, db::CompanyId company, std::string_view sku) {
  return OneItem(
      session.One("SELECT p.id, p.name, c.name, p.kitchen_id, p.stock_enabled, v.id, v.name, v.sku "
                  "FROM variant v"
                  " JOIN product p ON p.company_id = v.company_id AND p.id = v.product_id"
                  " JOIN category c ON c.company_id = p.company_id AND c.id = p.category_id"
                  " WHERE v.company_id = $1 AND v.sku = $2",
                  company, sku));
}

std::optional<Modifier> SelectModifier(db::Session& session, db::CompanyId company,
                                       std::string_view product_id, std::string_view modifier_id) {
  const auto row = session.One(
      "SELECT id, name FROM modifier WHERE company_id = $1 AND id = $2 AND product_id = $3",
      company, modifier_id, product_id);
  if (!row) return std::nullopt;
  Modifier modifier;
  modifier.id = row->Text(0);
  modifier.name = row->Text(1);
  return modifier;
}

bool HasStation(db::Session& session, db::CompanyId company, std::string_view id) {
  return session.One("SELECT 1 FROM station WHERE company_id = $1 AND id = $2", company, id)
      .has_value();
}

std::optional<std::string> SkuHolder(db::Session& session, db::CompanyId company,
                                     std::string_view sku) {
  const auto row =
      session.One("SELECT id FROM variant WHERE company_id = $1 AND sku = $2", company, sku);
  if (!row) return std::nullopt;
  return row->Text(0);
}

void FreeOtherSku(db::Tx& tx, db::CompanyId company, const VariantDraft& variant) {
  tx.Run(
      "UPDATE variant SET sku = 'free ' || id"
      " WHERE company_id = $1 AND id = $2 AND sku IS NOT NULL AND sku IS DISTINCT FROM $3",
      company, variant.id, variant.sku);
}

company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const StationDraft& station) {
  const bool existed = HasStation(tx, company, station.id);
  const int64_t written = tx.Run(
      "INSERT INTO station (company_id, id, name) VALUES ($1, $2, $3)"
      " ON CONFLICT (company_id, id) DO UPDATE SET name = excluded.name"
      " WHERE station.name IS DISTINCT FROM excluded.name",
      company, station.id, station.name);
  return company::OutcomeOf(existed, written);
}

company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const CategoryDraft& category,
                        int position) {
  const bool existed =
      tx.One("SELECT 1 FROM category WHERE company_id = $1 AND id = $2", company, category.id)
          .has_value();
  const int64_t written = tx.Run(
      "INSERT INTO category (company_id, id, name, slug, description, image_url, position, visible)"
      " VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
      " ON CONFLICT (company_id, id) DO UPDATE SET name = excluded.name, slug = excluded.slug,"
      " description = excluded.description, image_url = excluded.image_url,"
      " position = excluded.position, visible = excluded.visible"
      " WHERE (category.name, category.slug, category.description, category.image_url,"
      " category.position, category.visible)"
      " IS DISTINCT FROM (excluded.name, excluded.slug, excluded.description, excluded.image_url,"
      " excluded.position, excluded.visible)",
      company, category.id, category.name, category.slug, category.description, category.image_url,
      position, category.visible);
  return company::OutcomeOf(existed, written);
}

company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const ProductDraft& product,
                        std::string_view category_id, int position, const db::Stamp& stamp) {
  const bool existed =
      tx.One("SELECT 1 FROM product WHERE company_id = $1 AND id = $2", company, product.id)
          .has_value();
  const int64_t written = tx.Run(
      "INSERT INTO product (company_id, id, category_id, name, slug, description, image_url, "
      "images,"
      " position, visible, stock_enabled, messages_for_customers, kitchen_id, created_at, "
      "updated_at)"
      " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14)"
      " ON CONFLICT (company_id, id) DO UPDATE SET category_id = excluded.category_id,"
      " name = excluded.name, slug = excluded.slug, description = excluded.description,"
      " image_url = excluded.image_url, images = excluded.images, position = excluded.position,"
      " visible = excluded.visible, stock_enabled = excluded.stock_enabled,"
      " messages_for_customers = excluded.messages_for_customers, kitchen_id = excluded.kitchen_id,"
      " updated_at = excluded.updated_at"
      " WHERE (product.category_id, product.name, product.slug, product.description, "
      "product.image_url,"
      " product.images, product.position, product.visible, product.stock_enabled,"
      " product.messages_for_customers, product.kitchen_id)"
      " IS DISTINCT FROM (excluded.category_id, excluded.name, excluded.slug, excluded.description,"
      " excluded.image_url, excluded.images, excluded.position, excluded.visible,"
      " excluded.stock_enabled, excluded.messages_for_customers, excluded.kitchen_id)",
      company, product.id, category_id, product.name, product.slug, product.description,
      product.image_url, product.images, position, product.visible, product.stock_enabled,
      product.messages_for_customers, product.kitchen_id, stamp.now);
  return company::OutcomeOf(existed, written);
}

company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const VariantDraft& variant,
                        std::string_view product_id, int position) {
  const bool existed =
      tx.One("SELECT 1 FROM variant WHERE company_id = $1 AND id = $2", company, variant.id)
          .has_value();
  const int64_t written = tx.Run(
      "INSERT INTO variant (company_id, id, product_id, name, sku, price, original_price,"
      " packaging_price, cost, stock, stock_threshold, position)"
      " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"
      " ON CONFLICT (company_id, id) DO UPDATE SET product_id = excluded.product_id,"
      " name = excluded.name, sku = excluded.sku, price = excluded.price,"
      " original_price = excluded.original_price, packaging_price = excluded.packaging_price,"
      " cost = excluded.cost, stock = coalesce(excluded.stock, variant.stock),"
      " stock_threshold = excluded.stock_threshold, position = excluded.position"
      " WHERE (variant.product_id, variant.name, variant.sku, variant.price, "
      "variant.original_price,"
      " variant.packaging_price, variant.cost, variant.stock, variant.stock_threshold,"
      " variant.position)"
      " IS DISTINCT FROM (excluded.product_id, excluded.name, excluded.sku, excluded.price,"
      " excluded.original_price, excluded.packaging_price, excluded.cost,"
      " coalesce(excluded.stock, variant.stock), excluded.stock_threshold, excluded.position)",
      company, variant.id, product_id, variant.name, variant.sku, variant.price,
      variant.original_price, variant.packaging_price, variant.cost, variant.stock,
      variant.stock_threshold, position);
  return company::OutcomeOf(existed, written);
}

company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const ModifierCategoryDraft& category,
                        std::string_view product_id, int position) {
  const bool existed = tx.One("SELECT 1 FROM modifier_category WHERE company_id = $1 AND id = $2",
                              company, category.id)
                           .has_value();
  const int64_t written = tx.Run(
      "INSERT INTO modifier_category (company_id, id, product_id, name, type, required, "
      "min_modifiers,"
      " max_modifiers, is_active, position) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
      " ON CONFLICT (company_id, id) DO UPDATE SET product_id = excluded.product_id,"
      " name = excluded.name, type = excluded.type, required = excluded.required,"
      " min_modifiers = excluded.min_modifiers, max_modifiers = excluded.max_modifiers,"
      " is_active = excluded.is_active, position = excluded.position"
      " WHERE (modifier_category.product_id, modifier_category.name, modifier_category.type,"
      " modifier_category.required, modifier_category.min_modifiers, "
      "modifier_category.max_modifiers,"
      " modifier_category.is_active, modifier_category.position)"
      " IS DISTINCT FROM (excluded.product_id, excluded.name, excluded.type, excluded.required,"
      " excluded.min_modifiers, excluded.max_modifiers, excluded.is_active, excluded.position)",
      company, category.id, product_id, category.name, category.type, category.required,
      category.min_modifiers, category.max_modifiers, category.is_active, position);
  return company::OutcomeOf(existed, written);
}

company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const ModifierDraft& modifier,
                        std::string_view modifier_category_id, std::string_view product_id,
                        int position) {
  const bool existed =
      tx.One("SELECT 1 FROM modifier WHERE company_id = $1 AND id = $2", company, modifier.id)
          .has_value();
  const int64_t written = tx.Run(
      "INSERT INTO modifier (company_id, id, modifier_category_id, product_id, name, sku, price,"
      " original_price, max_limit, visible, position)"
      " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
      " ON CONFLICT (company_id, id) DO UPDATE SET"
      " modifier_category_id = excluded.modifier_category_id, product_id = excluded.product_id,"
      " name = excluded.name, sku = excluded.sku, price = excluded.price,"
      " original_price = excluded.original_price, max_limit = excluded.max_limit,"
      " visible = excluded.visible, position = excluded.position"
      " WHERE (modifier.modifier_category_id, modifier.product_id, modifier.name, modifier.sku,"
      " modifier.price, modifier.original_price, modifier.max_limit, modifier.visible,"
      " modifier.position)"
      " IS DISTINCT FROM (excluded.modifier_category_id, excluded.product_id, excluded.name,"
      " excluded.sku, excluded.price, excluded.original_price, excluded.max_limit, "
      "excluded.visible,"
      " excluded.position)",
      company, modifier.id, modifier_category_id, product_id, modifier.name, modifier.sku,
      modifier.price, modifier.original_price, modifier.max_limit, modifier.visible, position);
  return company::OutcomeOf(existed, written);
}

void Touch(db::Tx& tx, db::CompanyId company, std::string_view product_id, const db::Stamp& stamp) {
  tx.Run("UPDATE product SET updated_at = $3 WHERE company_id = $1 AND id = $2", company,
         product_id, stamp.now);
}

}  // namespace comanda::menu
