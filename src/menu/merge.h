#pragma once

// Merges a product that a client sent into a stored or new one (contract section 9). Pure
// functions.

#include <cstddef>
#include <string>
#include <vector>

#include "json/reader.h"
#include "menu/draft.h"
#include "menu/product.h"

namespace comanda::menu {

// For each row sent: its index in the merged list, or kRefused if it was refused.
inline constexpr size_t kRefused = static_cast<size_t>(-1);
using Targets = std::vector<size_t>;

// Adds an error on a field of a row that was sent.
void Note(json::Errors& errors, const Sent& sent, std::string_view field, FieldCode code,
          std::string message);

// Merges `sent` into `product`, all but the category. Returns the targets of sent.variants.
//
// Variants match stored ones by id, then sku, then name; modifiers and their groups by id, then
// name, those of one name by their order; in a file all by id only. A row without a match is added;
// nothing is deleted. `is_new`: `product` has only its id and category so far. Adds an error for a
// new row without its required fields, for two rows that match the same stored one, and for a list
// that becomes too long.
Targets Merge(const Product& sent, const Form& form, bool is_new, Product& product,
              json::Errors& errors);

}  // namespace comanda::menu
