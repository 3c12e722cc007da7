#pragma once

// A product's JSON, rendered once per change and kept beside it (table product_record), so that the
// whole menu is a join of texts. What moves or shows without a change is left out and filled in by
// the reader: stock counts, and costs, which are for menu:write alone.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "company/company.h"
#include "menu/json.h"
#include "menu/product.h"

namespace comanda::menu {

// Raised whenever the record's form changes; older ones are then stale.
inline constexpr int64_t kRenderVersion = 1;

// With a mark for each stock that is counted, and marks around each cost.
std::string RenderMarked(const company::Company& company, const Product& product);

// Appends the record as GET shows it. `stocks`: of the product's counted variants, in order. False
// where they are not as many as the marks; what was appended is then useless.
[[nodiscard]] bool AppendFilled(std::string& out, std::string_view marked, Costs costs,
                                std::span<const int64_t> stocks);

}  // namespace comanda::menu
