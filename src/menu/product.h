#pragma once

// The records of the menu (contract section 9). Amounts are in minor units, stock is in
// thousandths.
//
// The same structs hold stored rows and rows that a client sent, in a request or an import file. A
// row that was sent may lack fields: `sent` says which ones it has; the others have their defaults.
// `sent` of a stored row is empty.
//
// Fields() lists the members that are columns of the row itself: not its id, not the rows below it,
// and not what only the store sets; kColumns names the columns, in the same order. Merging,
// comparing, reading and writing are generic over them (menu/fields.h), so that a new field is
// added in one place.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/time/clock.h"
#include "base/money.h"

namespace comanda::menu {

// What a client sent of a row.
struct Sent {
  // Bit n: the n-th member of Fields() was sent.
  uint32_t fields = 0;
  // False: the id was made by the reader, for a new row.
  bool has_id = false;
  // True for a variant made from the price, sku etc. of a product that sent no variants.
  bool shorthand = false;
  // Fields that no row has: one of them may have been meant as a required one that is missing.
  std::vector<std::string> unknown;
  // Where the row was sent, for errors: "products[3].variants[0]", empty for the whole body.
  std::string path;
  // Its byte offset in the document.
  size_t offset = 0;
  // Whether nested lists were sent: variants and modifier_categories of a product, modifiers of a
  // modifier category.
  bool has_variants = false, has_modifiers = false;
  // Read-only fields, which must equal the stored values, so that clients can send back what they
  // have read: the id of a row that the path names, the product of a variant, the creation of a
  // product.
  std::optional<std::string> claimed_id, claimed_product_id, claimed_created_at;

  bool operator==(const Sent&) const = default;
};

// A place in the kitchen where dishes are prepared. Lines of orders are routed to the station of
// their product (kitchen_id).
struct Station {
  std::string id;
  std::string name;
  // False: nothing is made there, as at a till that hands out bottles. Its lines need no mark in
  // the kitchen (kitchen/rules.h).
  bool prepares = true;
  int64_t position = 0;
  Sent sent;

  static constexpr auto Fields() {
    return std::tuple(&Station::name, &Station::prepares, &Station::position);
  }
  static constexpr std::array<std::string_view, 3> kColumns = {"name", "prepares", "position"};
  bool operator==(const Station&) const = default;
};

// That a product or modifier is sold out for a while (contract section 9). Only menu/sold_out.h
// sets it; rows that were sent have none.
struct SoldOut {
  UtcMs since = 0;
  // Nothing: until somebody says so.
  std::optional<UtcMs> until;
  // The name of the key that said so.
  std::string by;

  bool operator==(const SoldOut&) const = default;
};

// A size or version of a product; it has the price. A product with a single price has one variant,
// named kOnlyVariant.
struct Variant {
  std::string id;
  std::string name;
  std::optional<std::string> sku;
  Minor price = 0;
  std::optional<Minor> original_price;
  Minor packaging_price = 0;
  std::optional<Minor> cost;
  // Nothing: not counted.
  std::optional<int64_t> stock;
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

// An extra that can be added to a product, such as a topping.
struct Modifier {
  std::string id;
  std::string name;
  std::optional<std::string> sku;
  Minor price = 0;
  std::optional<Minor> original_price;
  std::optional<int64_t> max_limit;
  bool visible = true;
  int64_t position = 0;
  std::optional<SoldOut> sold_out;
  Sent sent;

  static constexpr auto Fields() {
    return std::tuple(&Modifier::name, &Modifier::sku, &Modifier::price, &Modifier::original_price,
                      &Modifier::max_limit, &Modifier::visible, &Modifier::position);
  }
  static constexpr std::array<std::string_view, 7> kColumns = {
      "name", "sku", "price", "original_price", "max_limit", "visible", "position"};
  bool operator==(const Modifier&) const = default;
};

// A group of modifiers from which a guest chooses.
struct ModifierCategory {
  std::string id;
  std::string name;
  // "one" or "many".
  std::string type = "many";
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

// A dish or article of the menu, with its variants and modifiers.
struct Product {
  std::string id;
  std::string category_id;
  std::string name;
  std::string slug;
  std::optional<std::string> description, image_url;
  // A JSON array of texts.
  std::string images = "[]";
  int64_t position = 0;
  bool visible = true;
  bool stock_enabled = false;
  std::optional<std::string> messages_for_customers, kitchen_id;
  std::vector<Variant> variants;
  std::vector<ModifierCategory> modifier_categories;
  std::optional<SoldOut> sold_out;
  // Incremented by each change of what GET shows, except stock counts.
  int64_t version = 0;
  UtcMs created_at = 0;
  UtcMs updated_at = 0;
  Sent sent;
  // Only of a row that was sent: the name of its category, instead of category_id or with it, and
  // the id for a new category if none has this name.
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

// What tells a person which product is meant.
struct ShownProduct {
  std::string id, name, category_name;
};

// A heading of the menu.
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

// False if no guest could choose as many modifiers as the group requires: a visible one counts
// max_limit times, or once without a limit.
inline bool CanBeSatisfied(const ModifierCategory& category) {
  if (!category.is_active) return true;
  int64_t choices = 0;
  for (const Modifier& modifier : category.modifiers) {
    if (modifier.visible) choices += modifier.max_limit.value_or(1);
  }
  return choices >= category.min_modifiers;
}

// The field `available`: visible, in stock and not sold out.
inline bool IsAvailable(const Product& product, const Variant& variant) {
  const bool in_stock = !product.stock_enabled || !variant.stock || *variant.stock > 0;
  return product.visible && in_stock && !product.sold_out;
}

// A product is available if one of its variants is.
inline bool IsAvailable(const Product& product) {
  return std::ranges::any_of(product.variants,
                             [&](const Variant& variant) { return IsAvailable(product, variant); });
}

}  // namespace comanda::menu
