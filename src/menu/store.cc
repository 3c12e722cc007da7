#include "menu/store.h"

#include "db/change_counters.h"
#include "menu/menu.h"

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

void ReadItemVariant(const db::Rows& row, int column, Item& item) {
  item.variant_id = row.OptionalText(column);
  item.variant_name = row.OptionalText(column + 1);
  item.sku = row.OptionalText(column + 2);
}

Category ReadCategory(const db::Rows& row) {
  Category category;
  int n = 0;
  category.id = row.Text(n++);
  category.name = row.Text(n++);
  category.slug = row.Text(n++);
  category.description = row.OptionalText(n++);
  category.image_url = row.OptionalText(n++);
  category.position = row.Int(n++);
  category.visible = row.Bool(n++);
  return category;
}

Product ReadProduct(const db::Rows& row) {
  Product product;
  int n = 0;
  product.id = row.Text(n++);
  product.category_id = row.Text(n++);
  product.name = row.Text(n++);
  product.slug = row.Text(n++);
  product.description = row.OptionalText(n++);
  product.image_url = row.OptionalText(n++);
  product.images = row.Text(n++);
  product.position = row.Int(n++);
  product.visible = row.Bool(n++);
  product.stock_enabled = row.Bool(n++);
  product.messages_for_customers = row.OptionalText(n++);
  product.kitchen_id = row.OptionalText(n++);
  product.version = row.Int(n++);
  product.created_at = row.Int(n++);
  product.updated_at = row.Int(n++);
  return product;
}

// Behind the product's id, as in the two that follow.
Variant ReadVariant(const db::Rows& row) {
  Variant variant;
  int n = 1;
  variant.id = row.Text(n++);
  variant.name = row.Text(n++);
  variant.sku = row.OptionalText(n++);
  variant.price = row.Int(n++);
  variant.original_price = row.OptionalInt(n++);
  variant.packaging_price = row.Int(n++);
  variant.cost = row.OptionalInt(n++);
  variant.stock = row.OptionalInt(n++);
  variant.stock_threshold = row.OptionalInt(n++);
  variant.position = row.Int(n++);
  return variant;
}

ModifierCategory ReadModifierCategory(const db::Rows& row) {
  ModifierCategory category;
  int n = 1;
  category.id = row.Text(n++);
  category.name = row.Text(n++);
  category.type = row.Text(n++);
  category.required = row.Bool(n++);
  category.min_modifiers = row.Int(n++);
  category.max_modifiers = row.OptionalInt(n++);
  category.is_active = row.Bool(n++);
  category.position = row.Int(n++);
  return category;
}

Modifier ReadModifier(const db::Rows& row) {
  Modifier modifier;
  int n = 0;
  modifier.id = row.Text(n++);
  modifier.name = row.Text(n++);
  modifier.sku = row.OptionalText(n++);
  modifier.price = row.Int(n++);
  modifier.original_price = row.OptionalInt(n++);
  modifier.max_limit = row.OptionalInt(n++);
  modifier.visible = row.Bool(n++);
  modifier.position = row.Int(n++);
  return modifier;
}

std::optional<Item> OneItem(std::optional<db::Rows> row) {
  if (!row) return std::nullopt;
  Item item = ReadItem(*row);
  ReadItemVariant(*row, 5, item);
  return item;
}

// The catalogues that are kept rendered show counts.
void NoteStockMove(db::Tx& tx, db::CompanyId company) {
  tx.OnCommit([&counters = tx.counters(), company] { counters.NoteStockMove(company); });
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
      "SELECT id, name, sku, price, original_price, max_limit, visible, position FROM modifier"
      " WHERE company_id = $1 AND id = $2 AND product_id = $3",
      company, modifier_id, product_id);
  if (!row) return std::nullopt;
  return ReadModifier(*row);
}

// -- products as GET shows them -------------------------------------------------------------------

std::vector<Category> SelectCategories(db::Session& session, db::CompanyId company) {
  db::Rows rows = session.Query(
      "SELECT id, name, slug, description, image_url, position, visible FROM category"
      " WHERE company_id = $1 ORDER BY position, id",
      company);
  std::vector<Category> categories;
  while (rows.Next()) categories.push_back(ReadCategory(rows));
  return categories;
}

std::optional<Category> SelectCategory(db::Session& session, db::CompanyId company,
                                       std::string_view id) {
  const auto row = session.One(
      "SELECT id, name, slug, description, image_url, position, visible FROM category"
      " WHERE company_id = $1 AND id = $2",
      company, id);
  if (!row) return std::nullopt;
  return ReadCategory(*row);
}

std::optional<Product> SelectWhole(db::Session& session, db::CompanyId company, std::string_view id,
                                   Depth depth) {
  std::optional<Product> product;
  {
    const auto row = session.One(
        "SELECT id, category_id, name, slug, description, image_url, images, position, visible,"
        " stock_enabled, messages_for_customers, kitchen_id, version, created_at, updated_at"
        " FROM product WHERE company_id = $1 AND id = $2",
        company, id);
    if (!row) return std::nullopt;
    product = ReadProduct(*row);
  }
  db::Rows variants = session.Query(
      "SELECT product_id, id, name, sku, price, original_price, packaging_price, cost, stock,"
      " stock_threshold, position FROM variant"
      " WHERE company_id = $1 AND product_id = $2 ORDER BY position, id",
      company, id);
  while (variants.Next()) product->variants.push_back(ReadVariant(variants));
  if (depth == Depth::kVariants) return product;

  db::Rows categories = session.Query(
      "SELECT product_id, id, name, type, required, min_modifiers, max_modifiers, is_active,"
      " position FROM modifier_category"
      " WHERE company_id = $1 AND product_id = $2 ORDER BY position, id",
      company, id);
  while (categories.Next()) {
    ModifierCategory& category =
        product->modifier_categories.emplace_back(ReadModifierCategory(categories));
    db::Rows modifiers = session.Query(
        "SELECT id, name, sku, price, original_price, max_limit, visible, position FROM modifier"
        " WHERE company_id = $1 AND modifier_category_id = $2 ORDER BY position, id",
        company, category.id);
    while (modifiers.Next()) category.modifiers.push_back(ReadModifier(modifiers));
  }
  return product;
}

std::vector<Product> SelectProducts(db::Session& session, db::CompanyId company,
                                    std::string_view category_id) {
  std::vector<Product> products;
  {
    db::Rows rows = session.Query(
        "SELECT id, category_id, name, slug, description, image_url, images, position, visible,"
        " stock_enabled, messages_for_customers, kitchen_id, version, created_at, updated_at"
        " FROM product WHERE company_id = $1 AND category_id = $2 ORDER BY position, id",
        company, category_id);
    while (rows.Next()) products.push_back(ReadProduct(rows));
  }
  // What stands below comes in the order of the products, so that one walk brings both together.
  {
    db::Rows rows = session.Query(
        "SELECT v.product_id, v.id, v.name, v.sku, v.price, v.original_price, v.packaging_price,"
        " v.cost, v.stock, v.stock_threshold, v.position FROM product p"
        " JOIN variant v ON v.company_id = p.company_id AND v.product_id = p.id"
        " WHERE p.company_id = $1 AND p.category_id = $2"
        " ORDER BY p.position, p.id, v.position, v.id",
        company, category_id);
    auto product = products.begin();
    while (rows.Next()) {
      while (product->id != rows.View(0)) ++product;
      product->variants.push_back(ReadVariant(rows));
    }
  }
  std::vector<ModifierCategory*> categories;
  {
    db::Rows rows = session.Query(
        "SELECT mc.product_id, mc.id, mc.name, mc.type, mc.required, mc.min_modifiers,"
        " mc.max_modifiers, mc.is_active, mc.position FROM product p"
        " JOIN modifier_category mc ON mc.company_id = p.company_id AND mc.product_id = p.id"
        " WHERE p.company_id = $1 AND p.category_id = $2"
        " ORDER BY p.position, p.id, mc.position, mc.id",
        company, category_id);
    auto product = products.begin();
    while (rows.Next()) {
      while (product->id != rows.View(0)) ++product;
      product->modifier_categories.push_back(ReadModifierCategory(rows));
    }
    for (Product& each : products) {
      for (ModifierCategory& category : each.modifier_categories) categories.push_back(&category);
    }
  }
  db::Rows rows = session.Query(
      "SELECT m.id, m.name, m.sku, m.price, m.original_price, m.max_limit, m.visible, m.position,"
      " m.modifier_category_id FROM product p"
      " JOIN modifier_category mc ON mc.company_id = p.company_id AND mc.product_id = p.id"
      " JOIN modifier m ON m.company_id = mc.company_id AND m.modifier_category_id = mc.id"
      " WHERE p.company_id = $1 AND p.category_id = $2"
      " ORDER BY p.position, p.id, mc.position, mc.id, m.position, m.id",
      company, category_id);
  auto category = categories.begin();
  while (rows.Next()) {
    while ((*category)->id != rows.View(8)) ++category;
    (*category)->modifiers.push_back(ReadModifier(rows));
  }
  return products;
}

std::vector<StoredRecord> SelectRecords(db::Session& session, db::CompanyId company,
                                        std::string_view category_id, int64_t render_version,
                                        std::string_view currency) {
  db::Rows rows = session.Query(
      "SELECT p.id, p.visible, p.updated_at, r.available, r.json FROM product p"
      " LEFT JOIN product_record r ON r.company_id = p.company_id AND r.product_id = p.id"
      " AND r.version = p.version AND r.render_version = $3 AND r.currency = $4"
      " WHERE p.company_id = $1 AND p.category_id = $2 ORDER BY p.position, p.id",
      company, category_id, render_version, currency);
  std::vector<StoredRecord> records;
  while (rows.Next()) {
    StoredRecord& record = records.emplace_back();
    record.product_id = rows.Text(0);
    record.visible = rows.Bool(1);
    record.updated_at = rows.Int(2);
    if (rows.IsNull(4)) continue;
    record.available = rows.Bool(3);
    record.json = rows.Text(4);
  }
  return records;
}

void PutRecord(db::Tx& tx, db::CompanyId company, const Product& product, int64_t render_version,
               std::string_view currency, std::string_view json) {
  tx.Run(
      "INSERT INTO product_record (company_id, product_id, version, render_version, currency,"
      " available, json) VALUES ($1, $2, $3, $4, $5, $6, $7)"
      " ON CONFLICT (company_id, product_id) DO UPDATE SET version = excluded.version,"
      " render_version = excluded.render_version, currency = excluded.currency,"
      " available = excluded.available, json = excluded.json",
      company, product.id, product.version, render_version, currency, IsAvailable(product), json);
}

std::vector<StockRow> SelectStocks(db::Session& session, db::CompanyId company,
                                   std::string_view category_id) {
  db::Rows rows = session.Query(
      "SELECT p.id, v.stock FROM product p"
      " JOIN variant v ON v.company_id = p.company_id AND v.product_id = p.id"
      " AND v.stock IS NOT NULL"
      " WHERE p.company_id = $1 AND p.category_id = $2"
      " ORDER BY p.position, p.id, v.position, v.id",
      company, category_id);
  std::vector<StockRow> stocks;
  while (rows.Next()) stocks.push_back({rows.Text(0), rows.Int(1)});
  return stocks;
}

std::vector<StaleRow> SelectStale(db::Session& session, int64_t render_version, int limit) {
  db::Rows rows = session.Query(
      "SELECT p.company_id, p.id FROM product p"
      " JOIN company c ON c.company_id = p.company_id"
      " LEFT JOIN product_record r ON r.company_id = p.company_id AND r.product_id = p.id"
      " AND r.version = p.version AND r.render_version = $1 AND r.currency = c.currency"
      " WHERE r.product_id IS NULL LIMIT $2",
      render_version, limit);
  std::vector<StaleRow> stale;
  while (rows.Next()) stale.push_back({rows.Int(0), rows.Text(1)});
  return stale;
}

std::optional<std::string> ProductOfVariant(db::Session& session, db::CompanyId company,
                                            std::string_view id) {
  const auto row =
      session.One("SELECT product_id FROM variant WHERE company_id = $1 AND id = $2", company, id);
  return row ? std::optional(row->Text(0)) : std::nullopt;
}

std::optional<std::string> ProductOfModifierCategory(db::Session& session, db::CompanyId company,
                                                     std::string_view id) {
  const auto row = session.One(
      "SELECT product_id FROM modifier_category WHERE company_id = $1 AND id = $2", company, id);
  return row ? std::optional(row->Text(0)) : std::nullopt;
}

std::optional<std::string> ProductOfModifier(db::Session& session, db::CompanyId company,
                                             std::string_view id) {
  const auto row =
      session.One("SELECT product_id FROM modifier WHERE company_id = $1 AND id = $2", company, id);
  return row ? std::optional(row->Text(0)) : std::nullopt;
}

int64_t NextPosition(db::Session& session, db::CompanyId company, std::string_view category_id) {
  return session
      .One(
          "SELECT coalesce(max(position) + 1, 0) FROM product"
          " WHERE company_id = $1 AND category_id = $2",
          company, category_id)
      ->Int(0);
}

// -- writing --------------------------------------------------------------------------------------

bool HasStation(db::Session& session, db::CompanyId company, std::string_view id) {
  return session.One("SELECT 1 FROM station WHERE company_id = $1 AND id = $2", company, id)
      .has_value();
}

std::optional<VariantRow> SkuHolder(db::Session& session, db::CompanyId company,
                                    std::string_view sku) {
  const auto row = session.One(
      "SELECT product_id, id FROM variant WHERE company_id = $1 AND sku = $2", company, sku);
  if (!row) return std::nullopt;
  return VariantRow{row->Text(0), row->Text(1)};
}

void FreeOtherSku(db::Tx& tx, db::CompanyId company, std::string_view variant_id,
                  const std::optional<std::string>& sku) {
  tx.Run(
      "UPDATE variant SET sku = 'free ' || id"
      " WHERE company_id = $1 AND id = $2 AND sku IS NOT NULL AND sku IS DISTINCT FROM $3",
      company, variant_id, sku);
}

company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const Station& station) {
  const bool existed = HasStation(tx, company, station.id);
  const int64_t written = tx.Run(
      "INSERT INTO station (company_id, id, name) VALUES ($1, $2, $3)"
      " ON CONFLICT (company_id, id) DO UPDATE SET name = excluded.name"
      " WHERE station.name IS DISTINCT FROM excluded.name",
      company, station.id, station.name);
  return company::OutcomeOf(existed, written);
}

company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const Category& category) {
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
      category.position, category.visible);
  return company::OutcomeOf(existed, written);
}

company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const Product& product,
                        const db::Stamp& stamp) {
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
      " updated_at = excluded.updated_at, version = product.version + 1"
      " WHERE (product.category_id, product.name, product.slug, product.description, "
      "product.image_url,"
      " product.images, product.position, product.visible, product.stock_enabled,"
      " product.messages_for_customers, product.kitchen_id)"
      " IS DISTINCT FROM (excluded.category_id, excluded.name, excluded.slug, excluded.description,"
      " excluded.image_url, excluded.images, excluded.position, excluded.visible,"
      " excluded.stock_enabled, excluded.messages_for_customers, excluded.kitchen_id)",
      company, product.id, product.category_id, product.name, product.slug, product.description,
      product.image_url, product.images, product.position, product.visible, product.stock_enabled,
      product.messages_for_customers, product.kitchen_id, stamp.now);
  return company::OutcomeOf(existed, written);
}

company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const Variant& variant,
                        std::string_view product_id) {
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
      variant.stock_threshold, variant.position);
  if (written > 0) NoteStockMove(tx, company);
  return company::OutcomeOf(existed, written);
}

company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const ModifierCategory& category,
                        std::string_view product_id) {
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
      category.min_modifiers, category.max_modifiers, category.is_active, category.position);
  return company::OutcomeOf(existed, written);
}

company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const Modifier& modifier,
                        std::string_view modifier_category_id, std::string_view product_id) {
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
      modifier.price, modifier.original_price, modifier.max_limit, modifier.visible,
      modifier.position);
  return company::OutcomeOf(existed, written);
}

void Touch(db::Tx& tx, db::CompanyId company, std::string_view product_id, const db::Stamp& stamp) {
  tx.Run(
      "UPDATE product SET updated_at = $3, version = version + 1 WHERE company_id = $1 AND id = $2",
      company, product_id, stamp.now);
}

// -- stock ----------------------------------------------------------------------------------------

void ClearStock(db::Tx& tx, db::CompanyId company, std::string_view variant_id) {
  tx.Run("UPDATE variant SET stock = NULL WHERE company_id = $1 AND id = $2", company, variant_id);
  NoteStockMove(tx, company);
}

std::optional<Counted> SelectCounted(db::Session& session, db::CompanyId company,
                                     std::string_view variant_id) {
  const auto row = session.One(
      "SELECT v.product_id, v.stock, p.stock_enabled, p.visible FROM variant v"
      " JOIN product p ON p.company_id = v.company_id AND p.id = v.product_id"
      " WHERE v.company_id = $1 AND v.id = $2 AND v.stock IS NOT NULL",
      company, variant_id);
  if (!row) return std::nullopt;
  return Counted{row->Text(0), row->Int(1), row->Bool(2), row->Bool(3)};
}

void SetStock(db::Tx& tx, db::CompanyId company, std::string_view variant_id, int64_t stock) {
  tx.Run("UPDATE variant SET stock = $3 WHERE company_id = $1 AND id = $2", company, variant_id,
         stock);
  NoteStockMove(tx, company);
}

void EraseAll(db::Tx& tx, db::CompanyId company) {
  tx.Run("DELETE FROM product_record WHERE company_id = $1", company);
  tx.Run("DELETE FROM modifier WHERE company_id = $1", company);
  tx.Run("DELETE FROM modifier_category WHERE company_id = $1", company);
  tx.Run("DELETE FROM variant WHERE company_id = $1", company);
  tx.Run("DELETE FROM product WHERE company_id = $1", company);
  tx.Run("DELETE FROM category WHERE company_id = $1", company);
  tx.Run("DELETE FROM station WHERE company_id = $1", company);
}

}  // namespace comanda::menu
