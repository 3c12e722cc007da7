#include "menu/store.h"

#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/checksum.h"
#include "base/problem.h"
#include "base/text.h"
#include "db/change_counters.h"
#include "menu/fields.h"

namespace comanda::menu {
namespace {

template <const db::Sql& kSql>
using ColumnOf = typename db::NamedRows<kSql>::Column;

template <const db::Sql& kSql>
void Read(const db::NamedRows<kSql>& from, ColumnOf<kSql> column, std::string& to) {
  to = from.Text(column);
}
template <const db::Sql& kSql>
void Read(const db::NamedRows<kSql>& from, ColumnOf<kSql> column, int64_t& to) {
  to = from.Int(column);
}
template <const db::Sql& kSql>
void Read(const db::NamedRows<kSql>& from, ColumnOf<kSql> column, bool& to) {
  to = from.Bool(column);
}
template <const db::Sql& kSql>
void Read(const db::NamedRows<kSql>& from, ColumnOf<kSql> column, std::optional<std::string>& to) {
  to = from.OptionalText(column);
}
template <const db::Sql& kSql>
void Read(const db::NamedRows<kSql>& from, ColumnOf<kSql> column, std::optional<int64_t>& to) {
  to = from.OptionalInt(column);
}

// The id and Fields(), each by the name of its column.
template <typename Row, const db::Sql& kSql>
Row ReadRow(const db::NamedRows<kSql>& from) {
  Row row;
  row.id = from.Text("id");
  [&]<size_t... kField>(std::index_sequence<kField...>) {
    (Read<kSql>(from, ColumnOf<kSql>(Row::kColumns[kField]), row.*std::get<kField>(Row::Fields())),
     ...);
  }
  (std::make_index_sequence<Row::kColumns.size()>());
  return row;
}

template <const db::Sql& kSql>
std::optional<SoldOut> ReadSoldOut(const db::NamedRows<kSql>& from) {
  const std::optional<int64_t> since = from.OptionalInt("sold_out_since");
  if (!since) return std::nullopt;
  return SoldOut{.since = *since,
                 .until = from.OptionalInt("sold_out_until"),
                 .by = from.OptionalText("sold_out_by").value_or("")};
}

template <typename Row, const db::Sql& kSql>
std::vector<Row> ReadRows(db::NamedRows<kSql> from) {
  std::vector<Row> rows;
  while (from.Next()) rows.push_back(ReadRow<Row>(from));
  return rows;
}

std::optional<Item> ReadItem(const auto& row) {
  if (!row) return std::nullopt;
  return Item{.product_id = row->Text("product_id"),
              .product_name = row->Text("product_name"),
              .category_name = row->Text("category_name"),
              .kitchen_id = row->OptionalText("kitchen_id"),
              .stock_enabled = row->Bool("stock_enabled"),
              .variant_id = row->OptionalText("variant_id"),
              .variant_name = row->OptionalText("variant_name"),
              .sku = row->OptionalText("sku")};
}

std::optional<std::string> FoldedOrNull(const std::optional<std::string>& sku) {
  if (!sku) return std::nullopt;
  return FoldedCode(*sku);
}

// The catalogues that are kept rendered show counts.
void NoteStockMove(db::Tx& tx, db::CompanyId company) {
  tx.OnCommit([&counters = tx.counters(), company] { counters.NoteStockMove(company); });
}

}  // namespace

std::optional<Item> FindProduct(db::Session& session, db::CompanyId company,
                                std::string_view product_id) {
  static constexpr db::Sql kSelect = R"sql(
        SELECT p.id AS product_id, p.name AS product_name, c.name AS category_name, p.kitchen_id,
          p.stock_enabled, v.id AS variant_id, v.name AS variant_name, v.sku
        FROM product p
        JOIN category c ON c.company_id = p.company_id AND c.id = p.category_id
        LEFT JOIN variant v ON v.company_id = p.company_id AND v.product_id = p.id
          AND NOT EXISTS (SELECT 1 FROM variant other WHERE other.company_id = v.company_id
            AND other.product_id = v.product_id AND other.id <> v.id)
        WHERE p.company_id = $1 AND p.id = $2
      )sql";
  return ReadItem(session.One<kSelect>(company, product_id));
}

std::optional<Item> FindVariant(db::Session& session, db::CompanyId company,
                                std::string_view variant_id) {
  static constexpr db::Sql kSelect = R"sql(
        SELECT p.id AS product_id, p.name AS product_name, c.name AS category_name, p.kitchen_id,
          p.stock_enabled, v.id AS variant_id, v.name AS variant_name, v.sku
        FROM variant v
        JOIN product p ON p.company_id = v.company_id AND p.id = v.product_id
        JOIN category c ON c.company_id = p.company_id AND c.id = p.category_id
        WHERE v.company_id = $1 AND v.id = $2
      )sql";
  return ReadItem(session.One<kSelect>(company, variant_id));
}

std::optional<Item> FindSku(db::Session& session, db::CompanyId company, std::string_view sku) {
  static constexpr db::Sql kSelect = R"sql(
        SELECT p.id AS product_id, p.name AS product_name, c.name AS category_name, p.kitchen_id,
          p.stock_enabled, v.id AS variant_id, v.name AS variant_name, v.sku
        FROM variant v
        JOIN product p ON p.company_id = v.company_id AND p.id = v.product_id
        JOIN category c ON c.company_id = p.company_id AND c.id = p.category_id
        WHERE v.company_id = $1 AND v.sku_folded = $2
        ORDER BY v.sku <> $3, p.created_at, v.id LIMIT 1
      )sql";
  return ReadItem(session.One<kSelect>(company, FoldedCode(sku), TrimmedCode(sku)));
}

std::vector<HeldSku> SelectHolders(db::Session& session, db::CompanyId company,
                                   std::string_view sku) {
  static constexpr db::Sql kSelect = R"sql(
        SELECT id, sku FROM variant WHERE company_id = $1 AND sku_folded = $2 ORDER BY id
      )sql";
  std::vector<HeldSku> holders;
  auto rows = session.Query<kSelect>(company, FoldedCode(sku));
  while (rows.Next()) holders.push_back({.id = rows.Text("id"), .sku = rows.Text("sku")});
  return holders;
}

std::optional<std::string> FindSpellingOfModifiers(db::Session& session, db::CompanyId company,
                                                   std::string_view sku) {
  return session.FindText(R"sql(
        SELECT sku FROM modifier WHERE company_id = $1 AND sku_folded = $2
        ORDER BY sku <> $3, id LIMIT 1
      )sql",
                          company, FoldedCode(sku), sku);
}

std::vector<TwinSkus> SelectTwinSkus(db::Session& session) {
  static constexpr db::Sql kSelect = R"sql(
        SELECT v.company_id AS company_id, v.sku_folded AS sku_folded, v.sku AS sku FROM variant v
        WHERE (v.company_id, v.sku_folded) IN (
          SELECT t.company_id, t.sku_folded FROM variant t WHERE t.sku_folded IS NOT NULL
          GROUP BY t.company_id, t.sku_folded HAVING count(*) > 1)
        UNION
        SELECT m.company_id, m.sku_folded, m.sku FROM modifier m
        WHERE (m.company_id, m.sku_folded) IN (
          SELECT t.company_id, t.sku_folded FROM modifier t WHERE t.sku_folded IS NOT NULL
          GROUP BY t.company_id, t.sku_folded HAVING count(DISTINCT t.sku) > 1)
        ORDER BY 1, 2, 3
      )sql";
  std::vector<TwinSkus> all;
  std::string folded;
  auto rows = session.Query<kSelect>();
  while (rows.Next()) {
    const db::CompanyId company = rows.Company("company_id");
    if (all.empty() || all.back().company != company || rows.View("sku_folded") != folded) {
      all.push_back({.company = company, .skus = {}});
      folded = rows.Text("sku_folded");
    }
    all.back().skus.push_back(rows.Text("sku"));
  }
  return all;
}

std::optional<Modifier> FindModifier(db::Session& session, db::CompanyId company,
                                     std::string_view product_id, std::string_view modifier_id) {
  static constexpr db::Sql kSelect = R"sql(
        SELECT id, name, sku, price, original_price, max_limit, visible, position
        FROM modifier WHERE company_id = $1 AND id = $2 AND product_id = $3
      )sql";
  const auto row = session.One<kSelect>(company, modifier_id, product_id);
  if (!row) return std::nullopt;
  return ReadRow<Modifier>(*row);
}

std::optional<std::string> FindModifierGroup(db::Session& session, db::CompanyId company,
                                             std::string_view modifier_id) {
  return session.FindText(R"sql(
      SELECT c.name FROM modifier AS m
      JOIN modifier_category AS c ON c.company_id = m.company_id AND c.id = m.modifier_category_id
      WHERE m.company_id = $1 AND m.id = $2
      )sql",
                          company, modifier_id);
}

std::optional<Modifier> FindModifierBySku(db::Session& session, db::CompanyId company,
                                          std::string_view product_id, std::string_view sku) {
  static constexpr db::Sql kSelect = R"sql(
        SELECT m.id, m.name, m.sku, m.price, m.original_price, m.max_limit, m.visible, m.position
        FROM modifier_category AS c
        JOIN modifier AS m ON m.company_id = c.company_id AND m.modifier_category_id = c.id
        WHERE c.company_id = $1 AND c.product_id = $2 AND m.sku_folded = $3
        ORDER BY m.sku <> $4, m.id LIMIT 1
      )sql";
  const auto row = session.One<kSelect>(company, product_id, FoldedCode(sku), TrimmedCode(sku));
  if (!row) return std::nullopt;
  return ReadRow<Modifier>(*row);
}

// Rows as they are stored.

std::vector<Station> SelectStations(db::Session& session, db::CompanyId company) {
  static constexpr db::Sql kSelect =
      R"sql(
      SELECT id, name, prepares, position FROM station WHERE company_id = $1
      ORDER BY position, id
      )sql";
  return ReadRows<Station>(session.Query<kSelect>(company));
}

std::vector<Category> SelectCategories(db::Session& session, db::CompanyId company) {
  static constexpr db::Sql kSelect = R"sql(
        SELECT id, name, slug, description, image_url, position, visible
        FROM category WHERE company_id = $1 ORDER BY position, id
      )sql";
  return ReadRows<Category>(session.Query<kSelect>(company));
}

std::vector<ShownProduct> SelectShown(db::Session& session, db::CompanyId company) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT p.id, p.name, c.name AS category_name
      FROM category c JOIN product p ON p.company_id = c.company_id AND p.category_id = c.id
      WHERE c.company_id = $1 AND c.visible = 1 AND p.visible = 1
      ORDER BY c.position, c.id, p.position, p.id
      )sql";
  std::vector<ShownProduct> shown;
  auto rows = session.Query<kSelect>(company);
  while (rows.Next()) {
    shown.push_back({rows.Text("id"), rows.Text("name"), rows.Text("category_name")});
  }
  return shown;
}

std::vector<DishList> AllDishes(db::Session& session, db::CompanyId company) {
  static constexpr db::Sql kDishes = R"sql(
      SELECT c.id AS category_id, c.name AS category_name, p.id, p.name, p.kitchen_id,
        p.sold_out_since, p.sold_out_until, p.sold_out_by,
        p.visible = 1 AND p.sold_out_since IS NULL AND EXISTS (
          SELECT 1 FROM variant AS v WHERE v.company_id = $1 AND v.product_id = p.id
            AND (p.stock_enabled = 0 OR v.stock IS NULL OR v.stock > 0)
        ) AS available
      FROM category AS c JOIN product AS p ON p.company_id = c.company_id AND p.category_id = c.id
      WHERE c.company_id = $1
      ORDER BY c.position, c.id, p.position, p.id
      )sql";
  static constexpr db::Sql kExtras = R"sql(
      SELECT m.product_id, m.id, m.name, m.sold_out_since, m.sold_out_until, m.sold_out_by
      FROM modifier AS m
      JOIN modifier_category AS g ON g.company_id = m.company_id AND g.id = m.modifier_category_id
      WHERE m.company_id = $1 AND g.is_active = 1 AND m.visible = 1
      ORDER BY g.position, g.id, m.position, m.id
      )sql";
  std::vector<DishList> lists;
  std::unordered_map<std::string, std::pair<size_t, size_t>> places;
  {
    auto rows = session.Query<kDishes>(company);
    while (rows.Next()) {
      if (lists.empty() || lists.back().category_id != rows.View("category_id")) {
        lists.push_back({rows.Text("category_id"), rows.Text("category_name"), {}});
      }
      places.emplace(rows.Text("id"), std::pair(lists.size() - 1, lists.back().dishes.size()));
      lists.back().dishes.push_back({.id = rows.Text("id"),
                                     .name = rows.Text("name"),
                                     .station_id = rows.OptionalText("kitchen_id"),
                                     .available = rows.Bool("available"),
                                     .sold_out = ReadSoldOut(rows),
                                     .extras = {}});
    }
  }
  auto rows = session.Query<kExtras>(company);
  while (rows.Next()) {
    const auto place = places.find(rows.Text("product_id"));
    if (place == places.end()) continue;
    const auto [list, dish] = place->second;
    lists[list].dishes[dish].extras.push_back(
        {rows.Text("id"), rows.Text("name"), ReadSoldOut(rows)});
  }
  return lists;
}

std::optional<Category> SelectCategory(db::Session& session, db::CompanyId company,
                                       std::string_view id) {
  static constexpr db::Sql kSelect = R"sql(
        SELECT id, name, slug, description, image_url, position, visible
        FROM category WHERE company_id = $1 AND id = $2
      )sql";
  const auto row = session.One<kSelect>(company, id);
  if (!row) return std::nullopt;
  return ReadRow<Category>(*row);
}

std::optional<Product> SelectWhole(db::Session& session, db::CompanyId company, std::string_view id,
                                   Depth depth) {
  std::optional<Product> product;
  {
    static constexpr db::Sql kProduct = R"sql(
          SELECT id, category_id, name, slug, description, image_url, images, position, visible,
            stock_enabled, messages_for_customers, kitchen_id, version, created_at, updated_at,
            sold_out_since, sold_out_until, sold_out_by
          FROM product WHERE company_id = $1 AND id = $2
        )sql";
    const auto row = session.One<kProduct>(company, id);
    if (!row) return std::nullopt;
    product = ReadRow<Product>(*row);
    product->version = row->Int("version");
    product->created_at = row->Int("created_at");
    product->updated_at = row->Int("updated_at");
    product->sold_out = ReadSoldOut(*row);
  }
  static constexpr db::Sql kVariants = R"sql(
        SELECT id, name, sku, price, original_price, packaging_price, cost, stock,
          stock_threshold, position
        FROM variant WHERE company_id = $1 AND product_id = $2 ORDER BY position, id
      )sql";
  product->variants = ReadRows<Variant>(session.Query<kVariants>(company, id));
  if (depth == Depth::kVariants) return product;

  static constexpr db::Sql kModifierCategories = R"sql(
        SELECT id, name, type, required, min_modifiers, max_modifiers, is_active, position
        FROM modifier_category WHERE company_id = $1 AND product_id = $2 ORDER BY position, id
      )sql";
  product->modifier_categories =
      ReadRows<ModifierCategory>(session.Query<kModifierCategories>(company, id));
  for (ModifierCategory& category : product->modifier_categories) {
    static constexpr db::Sql kModifiers = R"sql(
          SELECT id, name, sku, price, original_price, max_limit, visible, position,
            sold_out_since, sold_out_until, sold_out_by
          FROM modifier WHERE company_id = $1 AND modifier_category_id = $2 ORDER BY position, id
        )sql";
    auto rows = session.Query<kModifiers>(company, category.id);
    while (rows.Next()) {
      Modifier modifier = ReadRow<Modifier>(rows);
      modifier.sold_out = ReadSoldOut(rows);
      category.modifiers.push_back(std::move(modifier));
    }
  }
  return product;
}

std::optional<std::string> ProductOfVariant(db::Session& session, db::CompanyId company,
                                            std::string_view id) {
  return session.FindText(
      R"sql(SELECT product_id FROM variant WHERE company_id = $1 AND id = $2)sql", company, id);
}

std::optional<std::string> ProductOfModifierCategory(db::Session& session, db::CompanyId company,
                                                     std::string_view id) {
  return session.FindText(R"sql(
      SELECT product_id FROM modifier_category WHERE company_id = $1 AND id = $2
      )sql",
                          company, id);
}

std::optional<std::string> ProductOfModifier(db::Session& session, db::CompanyId company,
                                             std::string_view id) {
  return session.FindText(
      R"sql(SELECT product_id FROM modifier WHERE company_id = $1 AND id = $2)sql", company, id);
}

int64_t NextPosition(db::Session& session, db::CompanyId company, std::string_view category_id) {
  return session.GetInt(R"sql(
            SELECT coalesce(max(position) + 1, 0) FROM product
            WHERE company_id = $1 AND category_id = $2
          )sql",
                        company, category_id);
}

// Rendered records.

namespace {

int64_t RecordChecksum(std::string_view product_id, bool available, std::string_view json) {
  return Checksum().Add(product_id).Add(int64_t{available}).Add(json).Value();
}

// A record that is not what was written is as good as none.
bool IsSoundRecord(const auto& row) {
  if (row.IsNull("checksum")) return false;
  try {
    return row.Int("checksum") ==
           RecordChecksum(row.View("id"), row.Bool("available"), row.View("json"));
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged) throw;
    return false;
  }
}

}  // namespace

void EachRecord(db::Session& session, db::CompanyId company, std::span<const Category> categories,
                int64_t render_version, std::string_view currency,
                const std::function<void(StoredRecord&)>& use) {
  static constexpr db::Sql kRecords = R"sql(
        SELECT p.id, p.category_id, p.visible, p.updated_at, r.available, r.json, r.checksum
        FROM product p
        LEFT JOIN product_record r ON r.company_id = p.company_id AND r.product_id = p.id
          AND r.version = p.version AND r.render_version = $2 AND r.currency = $3
        WHERE p.company_id = $1
      )sql";
  static constexpr db::Sql kStocks = R"sql(
        SELECT p.id, v.stock FROM product p
        JOIN variant v ON v.company_id = p.company_id AND v.product_id = p.id
          AND v.stock IS NOT NULL
        WHERE p.company_id = $1
      )sql";
  std::vector<db::Bound> ids;
  for (const Category& category : categories) ids.emplace_back(category.id);
  auto rows =
      session.Query<kRecords>(db::ClauseBuilder(kRecords, {company, render_version, currency})
                                  .And("p.category_id IN ({})", ids)
                                  .OrderBy("p.category_id, p.position, p.id"));
  auto stocks =
      session.Query<kStocks>(db::ClauseBuilder(kStocks, {company})
                                 .And("p.category_id IN ({})", ids)
                                 .OrderBy("p.category_id, p.position, p.id, v.position, v.id"));
  bool has_stock = stocks.Next();
  while (rows.Next()) {
    StoredRecord record{.product_id = rows.Text("id"),
                        .category_id = rows.Text("category_id"),
                        .visible = rows.Bool("visible"),
                        .updated_at = rows.Int("updated_at")};
    if (IsSoundRecord(rows)) {
      record.available = rows.Bool("available");
      record.json = rows.Text("json");
    }
    for (; has_stock && stocks.View("id") == record.product_id; has_stock = stocks.Next()) {
      record.stocks.push_back(stocks.Int("stock"));
    }
    use(record);
  }
}

void PutRecord(db::Tx& tx, db::CompanyId company, const Product& product, int64_t render_version,
               std::string_view currency, std::string_view json) {
  tx.Run(
      R"sql(
        INSERT INTO product_record (company_id, product_id, version, render_version, currency,
          available, json, checksum)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (company_id, product_id) DO UPDATE SET version = excluded.version,
          render_version = excluded.render_version, currency = excluded.currency,
          available = excluded.available, json = excluded.json, checksum = excluded.checksum
      )sql",
      company, product.id, product.version, render_version, currency, IsAvailable(product), json,
      RecordChecksum(product.id, IsAvailable(product), json));
}

std::vector<std::string> SelectStale(db::Session& session, db::CompanyId company,
                                     int64_t render_version, std::string_view currency, int limit) {
  return session.FindTexts(R"sql(
        SELECT p.id FROM product p
        LEFT JOIN product_record r ON r.company_id = p.company_id AND r.product_id = p.id
          AND r.version = p.version AND r.render_version = $2 AND r.currency = $3
          AND r.checksum IS NOT NULL
        WHERE p.company_id = $1 AND r.product_id IS NULL LIMIT $4
      )sql",
                           company, render_version, currency, limit);
}

// Writing. The parameters are the company, the id, Fields() and then the rest.

void Upsert(db::Tx& tx, db::CompanyId company, const Station& station) {
  tx.Run(
      R"sql(
        INSERT INTO station (company_id, id, name, prepares, position) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (company_id, id) DO UPDATE SET name = excluded.name,
          prepares = excluded.prepares, position = excluded.position
      )sql",
      company, station.id, station.name, station.prepares, station.position);
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
                packaging_price, cost, stock, stock_threshold, position, product_id, sku_folded)
              VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
              ON CONFLICT (company_id, id) DO UPDATE SET name = excluded.name, sku = excluded.sku,
                sku_folded = excluded.sku_folded,
                price = excluded.price, original_price = excluded.original_price,
                packaging_price = excluded.packaging_price, cost = excluded.cost,
                stock = excluded.stock, stock_threshold = excluded.stock_threshold,
                position = excluded.position, product_id = excluded.product_id
            )sql",
            company, variant.id, variant.*fields..., product_id, FoldedOrNull(variant.sku));
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
                visible, position, modifier_category_id, product_id, sku_folded)
              VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
              ON CONFLICT (company_id, id) DO UPDATE SET name = excluded.name, sku = excluded.sku,
                sku_folded = excluded.sku_folded,
                price = excluded.price, original_price = excluded.original_price,
                max_limit = excluded.max_limit, visible = excluded.visible,
                position = excluded.position,
                modifier_category_id = excluded.modifier_category_id,
                product_id = excluded.product_id
            )sql",
            company, modifier.id, modifier.*fields..., modifier_category_id, product_id,
            FoldedOrNull(modifier.sku));
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
  tx.RunOne(
      R"sql(
        UPDATE product SET updated_at = $3, version = version + 1
        WHERE company_id = $1 AND id = $2
      )sql",
      company, product_id, stamp.now);
}

// Sold out.

std::optional<ShownModifier> SelectModifier(db::Session& session, db::CompanyId company,
                                            std::string_view id) {
  static constexpr db::Sql kSelect = R"sql(
        SELECT product_id, name, visible, sold_out_since, sold_out_until, sold_out_by
        FROM modifier WHERE company_id = $1 AND id = $2
      )sql";
  const auto row = session.One<kSelect>(company, id);
  if (!row) return std::nullopt;
  return ShownModifier{.product_id = row->Text("product_id"),
                       .name = row->Text("name"),
                       .visible = row->Bool("visible"),
                       .sold_out = ReadSoldOut(*row)};
}

namespace {

std::optional<UtcMs> SinceOf(const std::optional<SoldOut>& sold_out) {
  if (!sold_out) return std::nullopt;
  return sold_out->since;
}

std::optional<UtcMs> UntilOf(const std::optional<SoldOut>& sold_out) {
  if (!sold_out) return std::nullopt;
  return sold_out->until;
}

std::optional<std::string> ByOf(const std::optional<SoldOut>& sold_out) {
  if (!sold_out) return std::nullopt;
  return sold_out->by;
}

}  // namespace

void SetSoldOutOfProduct(db::Tx& tx, db::CompanyId company, std::string_view id,
                         const std::optional<SoldOut>& sold_out) {
  tx.RunOne(R"sql(
        UPDATE product SET sold_out_since = $3, sold_out_until = $4, sold_out_by = $5
        WHERE company_id = $1 AND id = $2
      )sql",
            company, id, SinceOf(sold_out), UntilOf(sold_out), ByOf(sold_out));
}

void SetSoldOutOfModifier(db::Tx& tx, db::CompanyId company, std::string_view id,
                          const std::optional<SoldOut>& sold_out) {
  tx.RunOne(R"sql(
        UPDATE modifier SET sold_out_since = $3, sold_out_until = $4, sold_out_by = $5
        WHERE company_id = $1 AND id = $2
      )sql",
            company, id, SinceOf(sold_out), UntilOf(sold_out), ByOf(sold_out));
}

std::optional<UtcMs> FirstEndOfSoldOut(db::Session& session) {
  return session.FindInt(R"sql(
        SELECT min(ends.at) FROM (
          SELECT min(sold_out_until) AS at FROM product WHERE sold_out_until IS NOT NULL
          UNION ALL
          SELECT min(sold_out_until) AS at FROM modifier WHERE sold_out_until IS NOT NULL) AS ends
        WHERE ends.at IS NOT NULL HAVING count(*) > 0
      )sql");
}

std::vector<SoldOutRow> SelectSoldOutUntil(db::Session& session, UtcMs at) {
  static constexpr db::Sql kSelect = R"sql(
        SELECT company_id, id, product_id, is_product FROM (
          SELECT company_id, id, id AS product_id, 1 AS is_product FROM product
          WHERE sold_out_until <= $1
          UNION ALL
          SELECT company_id, id, product_id, 0 AS is_product FROM modifier
          WHERE sold_out_until <= $1) AS ended
        ORDER BY company_id, product_id, id
      )sql";
  std::vector<SoldOutRow> all;
  auto rows = session.Query<kSelect>(at);
  while (rows.Next()) {
    all.push_back({.company = rows.Company("company_id"),
                   .id = rows.Text("id"),
                   .product_id = rows.Text("product_id"),
                   .is_product = rows.Bool("is_product")});
  }
  return all;
}

// Stock.

std::optional<CountedVariant> SelectCounted(db::Session& session, db::CompanyId company,
                                            std::string_view variant_id) {
  static constexpr db::Sql kSelect = R"sql(
        SELECT v.product_id, v.stock, p.stock_enabled, p.visible, p.sold_out_since FROM variant v
        JOIN product p ON p.company_id = v.company_id AND p.id = v.product_id
        WHERE v.company_id = $1 AND v.id = $2 AND v.stock IS NOT NULL
      )sql";
  const auto row = session.One<kSelect>(company, variant_id);
  if (!row) return std::nullopt;
  return CountedVariant{.product_id = row->Text("product_id"),
                        .stock = row->Int("stock"),
                        .stock_enabled = row->Bool("stock_enabled"),
                        .may_be_available = row->Bool("visible") && row->IsNull("sold_out_since")};
}

void SetStock(db::Tx& tx, db::CompanyId company, std::string_view variant_id, int64_t stock) {
  tx.RunOne(R"sql(UPDATE variant SET stock = $3 WHERE company_id = $1 AND id = $2)sql", company,
            variant_id, stock);
  NoteStockMove(tx, company);
}

void NoteWatched(db::Tx& tx, db::CompanyId company, std::string_view station_id, UtcMs at) {
  tx.Run(R"sql(UPDATE station SET watched_at = $3 WHERE company_id = $1 AND id = $2)sql", company,
         station_id, at);
}

void EraseAll(db::Tx& tx, db::CompanyId company) {
  tx.Run(R"sql(DELETE FROM product_record WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM modifier WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM modifier_category WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM variant WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM product WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM category WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM station WHERE company_id = $1)sql", company);
}

db::RowCount CountUpTo(db::Session& session, db::CompanyId company, int64_t last) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT count(*) AS found, coalesce(max(created_at), 0) AS last FROM product
      WHERE company_id = $1 AND created_at <= $2
      )sql";
  const auto row = session.One<kSelect>(company, last);
  return {.rows = row->Int("found"), .last = row->Int("last")};
}

}  // namespace comanda::menu
