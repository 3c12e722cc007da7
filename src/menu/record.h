#pragma once

// The rendered record of a product: its JSON, rendered once for each change and stored (table
// product_record), so that the whole menu is a concatenation of texts.
//
// Two parts of a record are filled in at reading, because they change or show independently of it:
// stock counts, which move without a change of the product, and costs, which only keys with
// menu:write see. The stored form has marks in their places (menu/json.h).

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "company/company.h"
#include "menu/json.h"
#include "menu/product.h"

namespace comanda::menu {

// Raise it with every change of the record's form. Records of older versions are stale, and
// RenderStale() renders them again.
inline constexpr int64_t kRenderVersion = 2;

// The stored form.
std::string RenderMarked(const company::Company& company, const Product& product);

// Appends the record as GET shows it. `stocks` are the counts of the product's counted variants, in
// order. Returns false if their number differs from that of the marks (the record is stale); `out`
// is then unusable.
[[nodiscard]] bool AppendFilled(std::string& out, std::string_view marked, Costs costs,
                                std::span<const int64_t> stocks);

}  // namespace comanda::menu
