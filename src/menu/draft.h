#pragma once

// What a client wants the menu to be: the body of a request, or the menu of an import file.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "menu/product.h"

namespace comanda::menu {

// How a request or a file is to be interpreted. One constant for each kind, below.
struct Form {
  // What the JSON describes at its top level.
  enum class Top : uint8_t { kProduct, kVariant, kProducts, kFile };
  Top top = Top::kProduct;
  // True: every row must have its required fields (a name; a variant a price; a product variants).
  // False: only new rows must.
  bool complete = false;
  // True for PATCH: at least one field must be present, and null clears an optional field.
  // Otherwise null is the same as a missing field.
  bool is_change = false;
  // Records of the cloud, under ids of this box. Like a file, but what the cloud does not show of a
  // row stays as it is, and null clears an optional field. What the cloud accepted is not refused
  // where a client's file would be: a group that nobody can satisfy, skus that differ only in case.
  bool is_of_cloud = false;

  // An import file is complete: a missing field gets its default, except stock, which is kept where
  // it is counted. Rows match stored ones by id only, even below another parent, and then move to
  // the parent given in the file. The position of a row defaults to its index in its list. Computed
  // fields are not accepted.
  constexpr bool in_file() const { return top == Top::kFile; }
  // The path of the request names the product, which must exist.
  constexpr bool needs_product() const { return top == Top::kVariant || is_change; }
  // The variant is always new.
  constexpr bool adds_variant() const { return top == Top::kVariant && !is_change; }
  bool operator==(const Form&) const = default;
};

inline constexpr Form kPostProduct = {.top = Form::Top::kProduct, .complete = true};
inline constexpr Form kPatchProduct = {.top = Form::Top::kProduct, .is_change = true};
inline constexpr Form kPostVariant = {.top = Form::Top::kVariant, .complete = true};
inline constexpr Form kPatchVariant = {.top = Form::Top::kVariant, .is_change = true};
inline constexpr Form kPutProducts = {.top = Form::Top::kProducts};
inline constexpr Form kImportFile = {.top = Form::Top::kFile, .complete = true};
inline constexpr Form kCloudRecords = {.top = Form::Top::kFile, .is_of_cloud = true};

struct Draft {
  Form form;
  // From a file only.
  std::vector<Station> stations;
  // From a file, or of the cloud, then whole; products refer to them by category_id.
  std::vector<Category> categories;
  std::vector<Product> products;
};

// Limits, which include the rows already stored. kUpsertMax: products of one PUT.
inline constexpr size_t kUpsertMax = 500;
inline constexpr size_t kVariantsMax = 100;           // of one product
inline constexpr size_t kModifierCategoriesMax = 50;  // of one product
inline constexpr size_t kModifiersMax = 200;          // of one category

}  // namespace comanda::menu
