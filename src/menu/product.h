#pragma once

// The nouns of the menu (contract section 9). Money in minor units, stock in thousandths.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/money.h"

namespace comanda::menu {

// Where dishes are made; an order's line goes to its product's.
struct Station {
  std::string id;
  std::string name;
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

  bool operator==(const Product&) const = default;
};

struct Category {
  std::string id;
  std::string name;
  std::string slug;
  std::optional<std::string> description, image_url;
  int64_t position = 0;
  bool visible = true;
  std::vector<Product> products;
};

// `available`: visible and in stock.
bool IsAvailable(const Product& product, const Variant& variant);
bool IsAvailable(const Product& product);  // one of its variants is

}  // namespace comanda::menu
