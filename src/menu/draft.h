#pragma once

// The menu as an import file gives it.

#include <optional>
#include <string>
#include <vector>

#include "menu/product.h"

namespace comanda::menu {

// Where the file names something that only the database can judge.
struct SkuUse {
  std::string path;  // of the field, for errors
  std::string variant_id;
  std::optional<std::string> sku;
};
struct KitchenUse {
  std::string path;
  std::string kitchen_id;
};

struct Draft {
  std::vector<Station> stations;
  // With everything below them. Positions are places in the lists of the file.
  std::vector<Category> categories;
  std::vector<SkuUse> skus;
  std::vector<KitchenUse> kitchens;
};

}  // namespace comanda::menu
