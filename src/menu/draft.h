#pragma once

// The menu as an import file gives it. Money in minor units, quantities in thousandths; a row's
// position is its place in its list.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/money.h"

namespace comanda::menu {

struct StationDraft {
  std::string id;
  std::string name;
};

struct VariantDraft {
  std::string path;  // in the file, for errors that only the database shows
  std::string id;
  std::string name;
  std::optional<std::string> sku;
  Minor price = 0;
  std::optional<Minor> original_price;
  Minor packaging_price = 0;
  std::optional<Minor> cost;
  std::optional<int64_t> stock;  // absent: what is stored stays
  std::optional<int64_t> stock_threshold;
};

struct ModifierDraft {
  std::string id;
  std::string name;
  std::optional<std::string> sku;
  Minor price = 0;
  std::optional<Minor> original_price;
  std::optional<int64_t> max_limit;
  bool visible = true;
};

struct ModifierCategoryDraft {
  std::string id;
  std::string name;
  std::string type;  // one, many
  bool required = false;
  int64_t min_modifiers = 0;
  std::optional<int64_t> max_modifiers;
  bool is_active = true;
  std::vector<ModifierDraft> modifiers;
};

struct ProductDraft {
  std::string path;
  std::string id;
  std::string name;
  std::string slug;
  std::optional<std::string> description, image_url;
  std::string images;  // JSON array of texts
  bool visible = true;
  bool stock_enabled = false;
  std::optional<std::string> messages_for_customers, kitchen_id;
  std::vector<VariantDraft> variants;
  std::vector<ModifierCategoryDraft> modifier_categories;
};

struct CategoryDraft {
  std::string id;
  std::string name;
  std::string slug;
  std::optional<std::string> description, image_url;
  bool visible = true;
  std::vector<ProductDraft> products;
};

struct Draft {
  std::vector<StationDraft> stations;
  std::vector<CategoryDraft> categories;
};

}  // namespace comanda::menu
