#pragma once

// What the fields of the menu may hold, in the import file and in the API alike.

#include <cstddef>
#include <cstdint>

#include "company/import_row.h"
#include "json/reader.h"

namespace comanda::menu {

using company::kProseRule;
using company::kUrlRule;

inline constexpr size_t kVariantsMax = 100;              // of one product
inline constexpr size_t kModifierCategoriesMax = 50;     // of one product
inline constexpr size_t kModifiersMax = 200;             // of one category
inline constexpr size_t kImagesMax = 50;                 // of one product
inline constexpr int64_t kModifierCountMax = 1'000;      // min_modifiers, max_modifiers, max_limit
inline constexpr int64_t kStockMax = 1'000'000'000'000;  // a thousand million, in thousandths
inline constexpr int64_t kPositionMax = 1'000'000;
inline constexpr json::TextRule kNameRule = {.max = 200};
inline constexpr json::TextRule kSkuRule = {.max = 100, .card_numbers_refused = false};
inline constexpr json::NumberRule kStockRule = {.decimals = 3, .min = 0, .max = kStockMax};

// Fields of a variant that a product of one price may have itself.
inline constexpr std::string_view kShorthand[] = {
    "price", "sku", "original_price", "packaging_price", "cost", "stock", "stock_threshold"};

}  // namespace comanda::menu
