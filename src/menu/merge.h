#pragma once

// What a sent product makes of a stored or a new one (contract section 9). Pure.

#include <cstddef>
#include <string>
#include <vector>

#include "json/reader.h"
#include "menu/draft.h"
#include "menu/product.h"

namespace comanda::menu {

// Which row of a list a sent row became; kRefused where it was refused.
inline constexpr size_t kRefused = static_cast<size_t>(-1);
using Targets = std::vector<size_t>;

// Notes an error on a field of a sent row.
void Note(json::Errors& errors, const Sent& sent, std::string_view field, FieldCode code,
          std::string message);

// Applies everything but the category; returns the targets of sent.variants. Variants match by id,
// sku, then name, modifiers by id, then name (in a file by id alone). Nothing is deleted; a row
// that matches none is new. `is_new`: the product has nothing but its id and category yet. What a
// new row lacks, two rows that match the same, and lists that become too long are noted.
Targets Merge(const Product& sent, const Form& form, bool is_new, Product& product,
              json::Errors& errors);

}  // namespace comanda::menu
