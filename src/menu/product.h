#pragma once

// The nouns of the menu (contract section 9). Money in minor units, stock in thousandths.
//
// The same structs hold rows that are stored and rows that a caller sends, in a request or in an
// import file. A sent row may leave fields out: `sent` says which it has, the others hold their
// defaults. A stored row has an empty `sent`.
//
// Fields() lists a row's own fields: all but its id, the rows below it and what only the store
// sets; kColumns names their columns, in the same order. store.cc reads by these names and writes
// in this order. Rows are merged, compared, read and written by them, so that a new field is named
// there once (menu/fields.h).

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "base/money.h"

namespace comanda::menu {

// What a caller sent of a row.
struct Sent {
  uint32_t fields = 0;     // bit n: the n-th of Fields()
  bool has_id = false;     // else the row's id was made by the reader, for a row that is new
  bool shorthand = false;  // a variant made of the price, sku … of its product
  std::string path;        // "products[3].variants[0]", empty for the body: for errors
  size_t offset = 0;       // in the document
  // Of a product: it has variants, modifier_categories; of a modifier category: modifiers.
  bool has_variants = false, has_modifiers = false;
  // What a record that is sent back says of itself, which must be what is stored: the id of a row
  // that the path names, a variant's product, a product's creation.
  std::optional<std::string> claimed_id, claimed_product_id, claimed_created_at;

  bool operator==(const Sent&) const = default;
};

// Where dishes are made; an order's line goes to its product's.
struct Station {
  std::string id;
  std::string name;
  Sent sent;

  static constexpr auto Fields() { return std::tuple(&Station::name); }
  static constexpr std::array<std::string_view, 1> kColumns = {"name"};
};

// What has a price. A product of one price has one variant, named kOnlyVariant.
struct Variant {
  std::string id;
  std::string name;
  std::optional<std::string> sku;
  Minor price = 0;
  std::optional<Minor> original_price;
  Minor packaging_price = 0;
  std::optional<Minor> cost;
  std::optional<int64_t> stock;  // absent: not counted
  std::optional<int64_t> stock_threshold;
  int64_t position = 0;
  Sent sent;

  static constexpr auto Fields() {
    return std::tuple(&Variant::name, &Variant::sku, &Variant::price, &Variant::original_price,
                      &Variant::packaging_price, &Variant::cost, &Variant::stock,
                      &Variant::stock_threshold, &Variant::position);
  }
  static constexpr std::array<std::string_view, 9> kColumns = {
      "name", "sku",   "price",           "original_price", "packaging_price",
      "cost", "stock", "stock_threshold", "position"};
  bool operator==(const Variant&) const = default;
};

inline constexpr char kOnlyVariant[] = "Default";

struct Modifier {
  std::string id;
  std::string name;
  std::optional<std::string> sku;
  Minor price = 0;
  std::optional<Minor> original_price;
  std::optional<int64_t> max_limit;
  bool visible = true;
  int64_t position = 0;
  Sent sent;

  static constexpr auto Fields() {
    return std::tuple(&Modifier::name, &Modifier::sku, &Modifier::price, &Modifier::original_price,
                      &Modifier::max_limit, &Modifier::visible, &Modifier::position);
  }
  static constexpr std::array<std::string_view, 7> kColumns = {
      "name", "sku", "price", "original_price", "max_limit", "visible", "position"};
  bool operator==(const Modifier&) const = default;
};

struct ModifierCategory {
  std::string id;
  std::string name;
  std::string type = "many";  // one, many
  bool required = false;
  int64_t min_modifiers = 0;
  std::optional<int64_t> max_modifiers;
  bool is_active = true;
  int64_t position = 0;
  std::vector<Modifier> modifiers;
  Sent sent;

  static constexpr auto Fields() {
    return std::tuple(&ModifierCategory::name, &ModifierCategory::type, &ModifierCategory::required,
                      &ModifierCategory::min_modifiers, &ModifierCategory::max_modifiers,
                      &ModifierCategory::is_active, &ModifierCategory::position);
  }
  static constexpr std::array<std::string_view, 7> kColumns = {
      "name", "type", "required", "min_modifiers", "max_modifiers", "is_active", "position"};
  bool operator==(const ModifierCategory&) const = default;
};

struct Product {
  std::string id;
  std::string category_id;
  std::string name;
  std::string slug;
  std::optional<std::string> description, image_url;
  std::string images = "[]";  // JSON array of texts
  int64_t position = 0;
  bool visible = true;
  bool stock_enabled = false;
  std::optional<std::string> messages_for_customers, kitchen_id;
  std::vector<Variant> variants;
  std::vector<ModifierCategory> modifier_categories;
  int64_t version = 0;  // +1 at each change of what GET shows, stock counts apart
  UtcMs created_at = 0;
  UtcMs updated_at = 0;
  Sent sent;
  // Only of a sent row: its category's name, instead of category_id or beside it, and the id that
  // the category gets where none has that name.
  std::string category_name, new_category_id;

  static constexpr auto Fields() {
    return std::tuple(&Product::category_id, &Product::name, &Product::slug, &Product::description,
                      &Product::image_url, &Product::images, &Product::position, &Product::visible,
                      &Product::stock_enabled, &Product::messages_for_customers,
                      &Product::kitchen_id);
  }
  static constexpr std::array<std::string_view, 11> kColumns = {
      "category_id", "name",     "slug",    "description",   "image_url",
      "images",      "position", "visible", "stock_enabled", "messages_for_customers",
      "kitchen_id"};
  bool operator==(const Product&) const = default;
};

struct Category {
  std::string id;
  std::string name;
  std::string slug;
  std::optional<std::string> description, image_url;
  int64_t position = 0;
  bool visible = true;
  Sent sent;

  static constexpr auto Fields() {
    return std::tuple(&Category::name, &Category::slug, &Category::description,
                      &Category::image_url, &Category::position, &Category::visible);
  }
  static constexpr std::array<std::string_view, 6> kColumns = {
      "name", "slug", "description", "image_url", "position", "visible"};
};

// `available`: visible and in stock.
inline bool IsAvailable(const Product& product, const Variant& variant) {
  const bool in_stock = !product.stock_enabled || !variant.stock || *variant.stock > 0;
  return product.visible && in_stock;
}

// One of its variants is.
inline bool IsAvailable(const Product& product) {
  return std::ranges::any_of(product.variants,
                             [&](const Variant& variant) { return IsAvailable(product, variant); });
}

}  // namespace comanda::menu
