#pragma once

// What a patch makes of a product (contract section 9, PUT /v1/menu/products). Pure.

#include <cstddef>
#include <vector>

#include "json/reader.h"
#include "menu/patch.h"
#include "menu/product.h"

namespace comanda::menu {

inline constexpr size_t kNoVariant = static_cast<size_t>(-1);

// Which of product.variants each of patch.variants became, in their order; kNoVariant where it was
// refused.
using Targets = std::vector<size_t>;

// Applies everything but the category. Variants match by id, sku, then name, modifiers by id, then
// name; nothing is deleted, rows that match none are new and get their ids. `is_new`: the product
// has nothing but its id yet. What a new row lacks, and rows that hit the same, are noted.
Targets Merge(const ProductPatch& patch, bool is_new, Product& product, json::Errors& errors);

}  // namespace comanda::menu
