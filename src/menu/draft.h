#pragma once

// What a caller sends: the body of a request or the menu of an import file.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "menu/product.h"

namespace comanda::menu {

// In what a request of each kind differs from the others and from a file, in reading and in what it
// does. One constant each, below.
struct Form {
  // What the JSON describes.
  enum class Top : uint8_t { kProduct, kVariant, kProducts, kFile };
  Top top = Top::kProduct;
  // A row must have a name, a variant a price, a product variants; else only where it is new.
  bool complete = false;
  // PATCH: at least one field must be sent, and null clears what can be empty. Else null is a field
  // left out.
  bool is_change = false;

  // A file says everything of its rows: a field left out gets its default, but a stock that is
  // counted stays. Its rows match stored ones by their ids alone, wherever those stand, and move
  // below the parent that the file gives them. A row's place in its list is its position. It has no
  // computed fields.
  constexpr bool in_file() const { return top == Top::kFile; }
  // The product is named by the path: it must be stored.
  constexpr bool needs_product() const { return top == Top::kVariant || is_change; }
  // The sent variant is never one that is stored.
  constexpr bool adds_variant() const { return top == Top::kVariant && !is_change; }
  bool operator==(const Form&) const = default;
};

inline constexpr Form kPostProduct = {.top = Form::Top::kProduct, .complete = true};
inline constexpr Form kPatchProduct = {.top = Form::Top::kProduct, .is_change = true};
inline constexpr Form kPostVariant = {.top = Form::Top::kVariant, .complete = true};
inline constexpr Form kPatchVariant = {.top = Form::Top::kVariant, .is_change = true};
inline constexpr Form kPutProducts = {.top = Form::Top::kProducts};
inline constexpr Form kImportFile = {.top = Form::Top::kFile, .complete = true};

struct Draft {
  Form form;
  std::vector<Station> stations;     // of a file
  std::vector<Category> categories;  // of a file; its products name theirs by category_id
  std::vector<Product> products;
};

// How many rows there may be, stored ones included.
inline constexpr size_t kUpsertMax = 500;             // products of one PUT
inline constexpr size_t kVariantsMax = 100;           // of one product
inline constexpr size_t kModifierCategoriesMax = 50;  // of one product
inline constexpr size_t kModifiersMax = 200;          // of one category

}  // namespace comanda::menu
