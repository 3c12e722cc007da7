#include "menu/product.h"

#include <algorithm>

namespace comanda::menu {

bool IsAvailable(const Product& product, const Variant& variant) {
  const bool in_stock = !product.stock_enabled || !variant.stock || *variant.stock > 0;
  return product.visible && in_stock;
}

bool IsAvailable(const Product& product) {
  return std::ranges::any_of(product.variants,
                             [&](const Variant& variant) { return IsAvailable(product, variant); });
}

}  // namespace comanda::menu
