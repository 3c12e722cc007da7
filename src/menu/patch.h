#pragma once

// What a caller wants of a product, as far as it can be checked without the database: fields that
// were not sent stay as they are, or get their default in a new row.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/money.h"

namespace comanda::menu {

// A field that may be cleared: nothing keeps it, an empty inner value clears it.
template <typename T>
using Setting = std::optional<std::optional<T>>;

// A row of the body, for errors that show later.
struct Place {
  std::string path;   // "products[3].variants[0]", empty for the body
  size_t offset = 0;  // in the body
};

struct VariantPatch {
  Place place;
  std::string fresh_id;  // for a new row without an id
  bool only = false;     // shorthand on the product: meant for its one variant
  bool is_new = false;   // never one that is stored
  std::optional<std::string> id, name;
  Setting<std::string> sku;
  std::optional<Minor> price, packaging_price;
  Setting<Minor> original_price, cost;
  Setting<int64_t> stock, stock_threshold;
  std::optional<int64_t> position;
};

struct ModifierPatch {
  Place place;
  std::string fresh_id;
  std::optional<std::string> id, name;
  Setting<std::string> sku;
  std::optional<Minor> price;
  Setting<Minor> original_price;
  Setting<int64_t> max_limit;
  std::optional<bool> visible;
  std::optional<int64_t> position;
};

struct ModifierCategoryPatch {
  Place place;
  std::string fresh_id;
  std::optional<std::string> id, name, type;
  std::optional<bool> required;
  std::optional<int64_t> min_modifiers;
  Setting<int64_t> max_modifiers;
  std::optional<bool> is_active;
  std::optional<int64_t> position;
  std::vector<ModifierPatch> modifiers;
};

struct ProductPatch {
  Place place;
  std::string fresh_id, fresh_category_id;
  bool wrong = false;  // its fields are refused already
  std::optional<std::string> id, category_id, category_name, name, slug;
  Setting<std::string> description, image_url;
  std::optional<std::string> images;
  std::optional<int64_t> position;
  std::optional<bool> visible, stock_enabled;
  Setting<std::string> messages_for_customers, kitchen_id;
  std::vector<VariantPatch> variants;
  std::vector<ModifierCategoryPatch> modifier_categories;
};

}  // namespace comanda::menu
