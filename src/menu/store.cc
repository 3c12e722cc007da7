#include "menu/store.h"

#include "db/change_counters.h"
#include "menu/fields.h"

namespace comanda::menu {
namespace {

void Read(const db::Rows& from, int column, std::string& to) { to = from.Text(column); }
void Read(const db::Rows& from, int column, int64_t& to) { to = from.Int(column); }
void Read(const db::Rows& from, int column, bool& to) { to = from.Bool(column); }
void Read(const db::Rows& from, int column, std::optional<std::string>& to) {
  to = from.OptionalText(column);
}
void Read(const db::Rows& from, int column, std::optional<int64_t>& to) {
  to = from.OptionalInt(column);
}

// The id and, behind it, Fields(): the first columns of every statement that reads a row. `behind`
// becomes the column that follows.
template <typename Row>
Row ReadRow(const db::Rows& from, int* behind = nullptr) {
  Row row;
  row.id = from.Text(0);
  int column = 1;
  ForEachField<Row>([&](auto field, uint32_t) { Read(from, column++, row.*field); });
  if (behind) *behind = column;
  return row;
}

template <typename Row>
std::vector<Row> ReadRows(db::Rows from) {
  std::vector<Row> rows;
  while (from.Next()) rows.push_back(ReadRow<Row>(from));
  return rows;
}

std::optional<Item> ReadItem(std::optional<db::Rows> row) {
  if (!row) return std::nullopt;
  return Item{.product_id = row->Text(0),
              .product_name = row->Text(1),
              .category_name = row->Text(2),
              .kitchen_id = row->OptionalText(3),
              .stock_enabled = row->Bool(4),
              .variant_id = row->OptionalText(5),
              .variant_name = row->OptionalText(6),
              .sku = row->OptionalText(7)};
}

std::optional<std::string> ReadId(std::optional<db::Rows> row) {
  return row ? std::optional(row->Text(0)) : std::nullopt;
}

// The catalogues that are kept rendered show counts.
void NoteStockMove(db::Tx& tx, db::CompanyId company) {
  tx.OnCommit([&counters = tx.counters(), company] { counters.NoteStockMove(company); });
}

}  // namespace

std::optional<Item> FindProduct(db::Session& session, db::CompanyId company,
                                std::string_view product_id) {
  return ReadItem(session.One(
      R"sql(
        SELECT p.id, p.name, c.name, p.kitchen_id, p.stock_enabled, v.id, v.name, v.sku
        FROM product p
        JOIN category c ON c.company_id = p.company_id AND c.id = p.category_id
        LEFT JOIN variant v ON v.company_id = p.company_id AND v.product_id = p.id
          AND NOT EXISTS (SELECT 1 FROM variant other WHERE other.company_id = v.company_id
            AND other.product_id = v.product_id AND other.id <> v.id)
        WHERE p.company_id = $1 AND p.id = $2
      )sql",
      company, product_id));
}

std::optional<Item> FindVariant(db::Session& session, db::CompanyId company,
                                std::string_view variant_id) {
  return ReadItem(session.One(
      R"sql(
        SELECT p.id, p.name, c.name, p.kitchen_id, p.stock_enabled, v.id, v.name, v.sku
        FROM variant v
        JOIN product p ON p.company_id = v.company_id AND p.id = v.product_id
        JOIN category c ON c.company_id = p.company_id AND c.id = p.category_id
        WHERE v.company_id = $1 AND v.id = $2
      )sql",
      company, variant_id));
}

std::optional<Item> FindSku(db::Session& session, db::CompanyId company, std::string_view sku) {
  return ReadItem(session.One(
      R"sql(
        SELECT p.id, p.name, c.name, p.kitchen_id, p.stock_enabled, v.id, v.name, v.sku
        FROM variant v
        JOIN product p ON p.company_id = v.company_id AND p.id = v.product_id
        JOIN category c ON c.company_id = p.company_id AND c.id = p.category_id
        WHERE v.company_id = $1 AND v.sku = $2
      )sql",
      company, sku));
}

std::optional<Modifier> FindModifier(db::Session& session, db::CompanyId company,
                                     std::string_view product_id, std::string_view modifier_id) {
  const auto row = session.One(
      R"sql(
        SELECT id, name, sku, price, original_price, max_limit, visible, position
        FROM modifier WHERE company_id = $1 AND id = $2 AND product_id = $3
      )sql",
      company, modifier_id, product_id);
  if (!row) return std::nullopt;
  return ReadRow<Modifier>(*row);
}

// Rows as they are stored.

std::vector<Station> SelectStations(db::Session& session, db::CompanyId company) {
  return ReadRows<Station>(
      session.Query("SELECT id, name FROM station WHERE company_id = $1 ORDER BY id", company));
}

std::vector<Category> SelectCategories(db::Session& session, db::CompanyId company) {
  return ReadRows<Category>(session.Query(
      R"sql(
        SELECT id, name, slug, description, image_url, position, visible
        FROM category WHERE company_id = $1 ORDER BY position, id
      )sql",
      company));
}

std::optional<Category> SelectCategory(db::Session& session, db::CompanyId company,
                                       std::string_view id) {
  const auto row = session.One(
      R"sql(
        SELECT id, name, slug, description, image_url, position, visible
        FROM category WHERE company_id = $1 AND id = $2
      )sql",
      company, id);
  if (!row) return std::nullopt;
  return ReadRow<Category>(*row);
}

std::optional<Product> SelectWhole(db::Session& session, db::CompanyId company, std::string_view id,
                                   Depth depth) {
  std::optional<Product> product;
  {
    const auto row = session.One(
        R"sql(
          SELECT id, category_id, name, slug, description, image_url, images, position, visible,
            stock_enabled, messages_for_customers, kitchen_id, version, created_at, updated_at
          FROM product WHERE company_id = $1 AND id = $2
        )sql",
        company, id);
    if (!row) return std::nullopt;
    int column = 0;
    product = ReadRow<Product>(*row, &column);
    product->version = row->Int(column);
    product->created_at = row->Int(column + 1);
    product->updated_at = row->Int(column + 2);
  }
  product->variants = ReadRows<Variant>(session.Query(
      R"sql(
        SELECT id, name, sku, price, original_price, packaging_price, cost, stock,
          stock_threshold, position
        FROM variant WHERE company_id = $1 AND product_id = $2 ORDER BY position, id
      )sql",
      company, id));
  if (depth == Depth::kVariants) return product;

  product->modifier_categories = ReadRows<ModifierCategory>(session.Query(
      R"sql(
        SELECT id, name, type, required, min_modifiers, max_modifiers, is_active, position
        FROM modifier_category WHERE company_id = $1 AND product_id = $2 ORDER BY position, id
      )sql",
      company, id));
  for (ModifierCategory& category : product->modifier_categories) {
    category.modifiers = ReadRows<Modifier>(session.Query(
        R"sql(
          SELECT id, name, sku, price, original_price, max_limit, visible, position
          FROM modifier WHERE company_id = $1 AND modifier_category_id = $2 ORDER BY position, id
        )sql",
        company, category.id));
  }
  return product;
}

std::optional<std::string> ProductOfVariant(db::Session& session, db::CompanyId company,
                                            std::string_view id) {
  return ReadId(
      session.One("SELECT product_id FROM variant WHERE company_id = $1 AND id = $2", company, id));
}

std::optional<std::string> ProductOfModifierCategory(db::Session& session, db::CompanyId company,
                                                     std::string_view id) {
  return ReadId(session.One(
      "SELECT product_id FROM modifier_category WHERE company_id = $1 AND id = $2", company, id));
}

std::optional<std::string> ProductOfModifier(db::Session& session, db::CompanyId company,
                                             std::string_view id) {
  return ReadId(session.One("SELECT product_id FROM modifier WHERE company_id = $1 AND id = $2",
                            company, id));
}

int64_t NextPosition(db::Session& session, db::CompanyId company, std::string_view category_id) {
  return session
      .One(
          R"sql(
            SELECT coalesce(max(position) + 1, 0) FROM product
            WHERE company_id = $1 AND category_id = $2
          )sql",
          company, category_id)
      ->Int(0);
}

// Rendered records.

void EachRecord(db::Session& session, db::CompanyId company, std::string_view category_id,
                int64_t render_version, std::string_view currency,
                const std::function<void(StoredRecord&)>& use) {
  db::Rows rows = session.Query(
      R"sql(
        SELECT p.id, p.visible, p.updated_at, r.available, r.json FROM product p
        LEFT JOIN product_record r ON r.company_id = p.company_id AND r.product_id = p.id
          AND r.version = p.version AND r.render_version = $3 AND r.currency = $4
        WHERE p.company_id = $1 AND p.category_id = $2 ORDER BY p.position, p.id
      )sql",
      company, category_id, render_version, currency);
  db::Rows stocks = session.Query(
      R"sql(
        SELECT p.id, v.stock FROM product p
        JOIN variant v ON v.company_id = p.company_id AND v.product_id = p.id
          AND v.stock IS NOT NULL
        WHERE p.company_id = $1 AND p.category_id = $2
        ORDER BY p.position, p.id, v.position, v.id
      )sql",
      company, category_id);
  bool has_stock = stocks.Next();
  while (rows.Next()) {
    StoredRecord record{
        .product_id = rows.Text(0), .visible = rows.Bool(1), .updated_at = rows.Int(2)};
    if (!rows.IsNull(4)) {
      record.available = rows.Bool(3);
      record.json = rows.Text(4);
    }
    for (; has_stock && stocks.View(0) == record.product_id; has_stock = stocks.Next()) {
      record.stocks.push_back(stocks.Int(1));
    }
    use(record);
  }
}

void PutRecord(db::Tx& tx, db::CompanyId company, const Product& product, int64_t render_version,
               std::string_view currency, std::string_view json) {
  tx.Run(
      R"sql(
        INSERT INTO product_record (company_id, product_id, version, render_version, currency,
          available, json)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (company_id, product_id) DO UPDATE SET version = excluded.version,
          render_version = excluded.render_version, currency = excluded.currency,
          available = excluded.available, json = excluded.json
      )sql",
      company, product.id, product.version, render_version, currency, IsAvailable(product), json);
}

std::vector<StaleRow> SelectStale(db::Session& session, int64_t render_version, int limit) {
  db::Rows rows = session.Query(
      R"sql(
        SELECT p.company_id, p.id FROM product p
        JOIN company c ON c.company_id = p.company_id
        LEFT JOIN product_record r ON r.company_id = p.company_id AND r.product_id = p.id
          AND r.version = p.version AND r.render_version = $1 AND r.currency = c.currency
        WHERE r.product_id IS NULL LIMIT $2
      )sql",
      render_version, limit);
  std::vector<StaleRow> stale;
  while (rows.Next()) stale.push_back({rows.Int(0), rows.Text(1)});
  return stale;
}

// Writing. The parameters are the company, the id, Fields() and then the rest.

void Upsert(db::Tx& tx, db::CompanyId company, const Station& station) {
  tx.Run(
      R"sql(
        INSERT INTO station (company_id, id, name) VALUES ($1, $2, $3)
        ON CONFLICT (company_id, id) DO UPDATE SET name = excluded.name
      )sql",
      company, station.id, station.name);
}

void Upsert(db::Tx& tx, db::CompanyId company, const Category& category) {
  std::apply(
      [&](auto... fields) {
        tx.Run(
            R"sql(
              INSERT INTO category (company_id, id, name, slug, description, image_url, position,
                visible)
              VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
              ON CONFLICT (company_id, id) DO UPDATE SET name = excluded.name,
                slug = excluded.slug, description = excluded.description,
                image_url = excluded.image_url, position = excluded.position,
                visible = excluded.visible
            )sql",
            company, category.id, category.*fields...);
      },
      Category::Fields());
}

void Upsert(db::Tx& tx, db::CompanyId company, const Product& product, const db::Stamp& stamp) {
  std::apply(
      [&](auto... fields) {
        tx.Run(
            R"sql(
              INSERT INTO product (company_id, id, category_id, name, slug, description, image_url,
                images, position, visible, stock_enabled, messages_for_customers, kitchen_id,
                created_at, updated_at)
              VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14)
              ON CONFLICT (company_id, id) DO UPDATE SET category_id = excluded.category_id,
                name = excluded.name, slug = excluded.slug, description = excluded.description,
                image_url = excluded.image_url, images = excluded.images,
                position = excluded.position, visible = excluded.visible,
                stock_enabled = excluded.stock_enabled,
                messages_for_customers = excluded.messages_for_customers,
                kitchen_id = excluded.kitchen_id, updated_at = excluded.updated_at,
                version = product.version + 1
            )sql",
            company, product.id, product.*fields..., stamp.now);
      },
      Product::Fields());
}

void Upsert(db::Tx& tx, db::CompanyId company, const Variant& variant,
            std::string_view product_id) {
  std::apply(
      [&](auto... fields) {
        tx.Run(
            R"sql(
              INSERT INTO variant (company_id, id, name, sku, price, original_price,
                packaging_price, cost, stock, stock_threshold, position, product_id)
              VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
              ON CONFLICT (company_id, id) DO UPDATE SET name = excluded.name, sku = excluded.sku,
                price = excluded.price, original_price = excluded.original_price,
                packaging_price = excluded.packaging_price, cost = excluded.cost,
                stock = excluded.stock, stock_threshold = excluded.stock_threshold,
                position = excluded.position, product_id = excluded.product_id
            )sql",
            company, variant.id, variant.*fields..., product_id);
      },
      Variant::Fields());
  NoteStockMove(tx, company);
}

void Upsert(db::Tx& tx, db::CompanyId company, const ModifierCategory& category,
            std::string_view product_id) {
  std::apply(
      [&](auto... fields) {
        tx.Run(
            R"sql(
              INSERT INTO modifier_category (company_id, id, name, type, required, min_modifiers,
                max_modifiers, is_active, position, product_id)
              VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
              ON CONFLICT (company_id, id) DO UPDATE SET name = excluded.name,
                type = excluded.type, required = excluded.required,
                min_modifiers = excluded.min_modifiers, max_modifiers = excluded.max_modifiers,
                is_active = excluded.is_active, position = excluded.position,
                product_id = excluded.product_id
            )sql",
            company, category.id, category.*fields..., product_id);
      },
      ModifierCategory::Fields());
}

void Upsert(db::Tx& tx, db::CompanyId company, const Modifier& modifier,
            std::string_view modifier_category_id, std::string_view product_id) {
  std::apply(
      [&](auto... fields) {
        tx.Run(
            R"sql(
              INSERT INTO modifier (company_id, id, name, sku, price, original_price, max_limit,
                visible, position, modifier_category_id, product_id)
              VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
              ON CONFLICT (company_id, id) DO UPDATE SET name = excluded.name, sku = excluded.sku,
                price = excluded.price, original_price = excluded.original_price,
                max_limit = excluded.max_limit, visible = excluded.visible,
                position = excluded.position,
                modifier_category_id = excluded.modifier_category_id,
                product_id = excluded.product_id
            )sql",
            company, modifier.id, modifier.*fields..., modifier_category_id, product_id);
      },
      Modifier::Fields());
}

void MoveModifiers(db::Tx& tx, db::CompanyId company, const ModifierCategory& category,
                   std::string_view product_id) {
  tx.Run(
      R"sql(
        UPDATE modifier SET product_id = $3 WHERE company_id = $1 AND id IN (
          SELECT id FROM modifier WHERE company_id = $1 AND modifier_category_id = $2)
      )sql",
      company, category.id, product_id);
}

void FreeOtherSku(db::Tx& tx, db::CompanyId company, const Variant& variant) {
  tx.Run(
      R"sql(
        UPDATE variant SET sku = 'free ' || id
        WHERE company_id = $1 AND id = $2 AND sku IS NOT NULL AND sku IS DISTINCT FROM $3
      )sql",
      company, variant.id, variant.sku);
}

void Touch(db::Tx& tx, db::CompanyId company, std::string_view product_id, const db::Stamp& stamp) {
  tx.Run(
      R"sql(
        UPDATE product SET updated_at = $3, version = version + 1
        WHERE company_id = $1 AND id = $2
      )sql",
      company, product_id, stamp.now);
}

// Stock.

std::optional<Counted> SelectCounted(db::Session& session, db::CompanyId company,
                                     std::string_view variant_id) {
  const auto row = session.One(
      R"sql(
        SELECT v.product_id, v.stock, p.stock_enabled, p.visible FROM variant v
        JOIN product p ON p.company_id = v.company_id AND p.id = v.product_id
        WHERE v.company_id = $1 AND v.id = $2 AND v.stock IS NOT NULL
      )sql",
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
