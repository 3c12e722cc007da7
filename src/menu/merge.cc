#include "menu/merge.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "menu/limits.h"
#include "menu/slug.h"

namespace comanda::menu {
namespace {

void Note(json::Errors& errors, const Place& place, std::string_view field, FieldCode code,
          std::string message) {
  const std::string path = place.path.empty() ? "" : place.path + ".";
  errors.Add(path + std::string(field), code, std::move(message), place.offset);
}

template <typename T>
void Set(const std::optional<T>& wanted, T& field) {
  if (wanted) field = *wanted;
}

template <typename T>
void Set(const Setting<T>& wanted, std::optional<T>& field) {
  if (wanted) field = *wanted;
}

// -- matching -------------------------------------------------------------------------------------

// The rows of a list, and which of them were met in this call.
template <typename Row>
class Matcher {
 public:
  explicit Matcher(std::vector<Row>& rows) : rows_(rows), met_(rows.size(), false) {}

  template <typename Fits>
  std::optional<size_t> Find(Fits fits, bool met_too) const {
    for (size_t i = 0; i < rows_.size(); ++i) {
      if ((met_too || !met_[i]) && fits(rows_[i])) return i;
    }
    return std::nullopt;
  }
  std::optional<size_t> FindId(const std::optional<std::string>& id) const {
    if (!id) return std::nullopt;
    return Find([&](const Row& row) { return row.id == *id; }, true);
  }
  std::optional<size_t> FindName(const std::optional<std::string>& name, bool met_too) const {
    if (!name) return std::nullopt;
    const std::string folded = Folded(*name);
    return Find([&](const Row& row) { return Folded(row.name) == folded; }, met_too);
  }
  // False where it was met before.
  bool Meet(size_t index) {
    const bool first = !met_[index];
    met_[index] = true;
    return first;
  }
  size_t Append(Row row) {
    row.position = 0;
    for (const Row& other : rows_) row.position = std::max(row.position, other.position + 1);
    rows_.push_back(std::move(row));
    met_.push_back(true);
    return rows_.size() - 1;
  }

 private:
  std::vector<Row>& rows_;
  std::vector<bool> met_;
};

constexpr std::string_view kHitTwice = "names a row that another row of this call names too";

// -- variants -------------------------------------------------------------------------------------

void Apply(const VariantPatch& patch, Variant& variant) {
  Set(patch.name, variant.name);
  Set(patch.sku, variant.sku);
  Set(patch.price, variant.price);
  Set(patch.original_price, variant.original_price);
  Set(patch.packaging_price, variant.packaging_price);
  Set(patch.cost, variant.cost);
  Set(patch.stock, variant.stock);
  Set(patch.stock_threshold, variant.stock_threshold);
  Set(patch.position, variant.position);
}

class VariantMerger {
 public:
  VariantMerger(std::vector<Variant>& variants, json::Errors& errors)
      : variants_(variants), matcher_(variants), stored_(variants.size()), errors_(errors) {}

  size_t Merge(const VariantPatch& patch) {
    if (patch.only && stored_ > 1 && !FindSku(patch)) {
      Note(errors_, patch.place, patch.sku ? "sku" : "price", FieldCode::kNotAllowed,
           "is for a product of one price; this one has several variants: send variants[], or the "
           "sku of one of them");
      return kNoVariant;
    }
    const std::optional<size_t> found = Find(patch);
    if (!found) return Add(patch);
    if (!matcher_.Meet(*found)) {
      Note(errors_, patch.place,
           patch.id    ? "id"
           : patch.sku ? "sku"
                       : "name",
           FieldCode::kDuplicate, std::string(kHitTwice));
      return kNoVariant;
    }
    Apply(patch, variants_[*found]);
    return *found;
  }

 private:
  std::optional<size_t> FindSku(const VariantPatch& patch) const {
    if (!patch.sku || !*patch.sku) return std::nullopt;
    return matcher_.Find([&](const Variant& variant) { return variant.sku == *patch.sku; }, true);
  }

  std::optional<size_t> Find(const VariantPatch& patch) const {
    if (patch.is_new) return std::nullopt;
    if (const auto found = matcher_.FindId(patch.id)) return found;
    if (const auto found = FindSku(patch)) return found;
    if (patch.only) return stored_ == 1 ? std::optional<size_t>(0) : std::nullopt;
    // Two sizes of one name are two variants where each has a sku of its own.
    return matcher_.FindName(patch.name, !patch.sku);
  }

  size_t Add(const VariantPatch& patch) {
    Variant variant;
    variant.id = patch.id.value_or(patch.fresh_id);
    if (patch.only) variant.name = kOnlyVariant;
    bool complete = true;
    if (!patch.only && !patch.name) {
      Note(errors_, patch.place, "name", FieldCode::kRequired, "is required for a new variant");
      complete = false;
    }
    if (!patch.price) {
      Note(errors_, patch.place, "price", FieldCode::kRequired, "is required for a new variant");
      complete = false;
    }
    if (patch.is_new && matcher_.FindName(patch.name, true)) {
      Note(errors_, patch.place, "name", FieldCode::kDuplicate,
           "is the name of a variant that the product has already");
      complete = false;
    }
    if (!complete) return kNoVariant;
    const size_t index = matcher_.Append(std::move(variant));
    Apply(patch, variants_[index]);
    return index;
  }

  std::vector<Variant>& variants_;
  Matcher<Variant> matcher_;
  const size_t stored_;
  json::Errors& errors_;
};

// -- modifiers ------------------------------------------------------------------------------------

void Apply(const ModifierPatch& patch, Modifier& modifier) {
  Set(patch.name, modifier.name);
  Set(patch.sku, modifier.sku);
  Set(patch.price, modifier.price);
  Set(patch.original_price, modifier.original_price);
  Set(patch.max_limit, modifier.max_limit);
  Set(patch.visible, modifier.visible);
  Set(patch.position, modifier.position);
}

void MergeList(const std::vector<ModifierPatch>& patches, const Place& place,
               std::vector<Modifier>& modifiers, json::Errors& errors);

void Apply(const ModifierCategoryPatch& patch, ModifierCategory& category, json::Errors& errors) {
  Set(patch.name, category.name);
  Set(patch.type, category.type);
  Set(patch.required, category.required);
  Set(patch.min_modifiers, category.min_modifiers);
  Set(patch.max_modifiers, category.max_modifiers);
  Set(patch.is_active, category.is_active);
  Set(patch.position, category.position);
  if (patch.required && !patch.min_modifiers && category.required && category.min_modifiers == 0) {
    category.min_modifiers = 1;
  }
  if (category.type == "one" && !category.max_modifiers) category.max_modifiers = 1;
  if (category.max_modifiers && *category.max_modifiers < category.min_modifiers) {
    Note(errors, patch.place, patch.max_modifiers ? "max_modifiers" : "min_modifiers",
         FieldCode::kOutOfRange,
         "leaves min_modifiers at " + std::to_string(category.min_modifiers) +
             " above max_modifiers at " + std::to_string(*category.max_modifiers));
  }
  MergeList(patch.modifiers, patch.place, category.modifiers, errors);
}

void Apply(const ModifierPatch& patch, Modifier& modifier, json::Errors&) {
  Apply(patch, modifier);
}

// Rows that match by id, then name.
template <typename Patch, typename Row>
void MergeRows(const std::vector<Patch>& patches, std::string_view noun, std::vector<Row>& rows,
               json::Errors& errors) {
  Matcher<Row> matcher(rows);
  for (const Patch& patch : patches) {
    std::optional<size_t> found = matcher.FindId(patch.id);
    if (!found) found = matcher.FindName(patch.name, !patch.id);
    if (found && !matcher.Meet(*found)) {
      Note(errors, patch.place, patch.id ? "id" : "name", FieldCode::kDuplicate,
           std::string(kHitTwice));
      continue;
    }
    if (!found && !patch.name) {
      Note(errors, patch.place, "name", FieldCode::kRequired,
           "is required for a new " + std::string(noun));
      continue;
    }
    if (!found) {
      Row row;
      row.id = patch.id.value_or(patch.fresh_id);
      found = matcher.Append(std::move(row));
    }
    Apply(patch, rows[*found], errors);
  }
}

void RefuseTooMany(size_t count, size_t max, std::string_view field, const Place& place,
                   json::Errors& errors) {
  if (count <= max) return;
  Note(errors, place, field, FieldCode::kTooManyItems,
       "would be " + std::to_string(count) + " with those that are stored: at most " +
           std::to_string(max) + " are possible");
}

void MergeList(const std::vector<ModifierPatch>& patches, const Place& place,
               std::vector<Modifier>& modifiers, json::Errors& errors) {
  MergeRows(patches, "modifier", modifiers, errors);
  RefuseTooMany(modifiers.size(), kModifiersMax, "modifiers", place, errors);
}

// -- the product ----------------------------------------------------------------------------------

void ApplyOwn(const ProductPatch& patch, Product& product) {
  Set(patch.name, product.name);
  Set(patch.slug, product.slug);
  Set(patch.description, product.description);
  Set(patch.image_url, product.image_url);
  Set(patch.images, product.images);
  Set(patch.position, product.position);
  Set(patch.visible, product.visible);
  Set(patch.stock_enabled, product.stock_enabled);
  Set(patch.messages_for_customers, product.messages_for_customers);
  Set(patch.kitchen_id, product.kitchen_id);
}

}  // namespace

Targets Merge(const ProductPatch& patch, bool is_new, Product& product, json::Errors& errors) {
  ApplyOwn(patch, product);
  if (is_new && !patch.name) {
    Note(errors, patch.place, "name", FieldCode::kRequired, "is required for a new product");
  }
  if (is_new && !patch.slug) product.slug = Slug(product.name);
  if (is_new && patch.variants.empty()) {
    Note(errors, patch.place, "price", FieldCode::kRequired,
         "is required for a new product, or variants[] with a price each");
  }
  Targets targets;
  VariantMerger variants(product.variants, errors);
  for (const VariantPatch& variant : patch.variants) targets.push_back(variants.Merge(variant));
  RefuseTooMany(product.variants.size(), kVariantsMax, "variants", patch.place, errors);
  MergeRows(patch.modifier_categories, "modifier category", product.modifier_categories, errors);
  RefuseTooMany(product.modifier_categories.size(), kModifierCategoriesMax, "modifier_categories",
                patch.place, errors);
  return targets;
}

}  // namespace comanda::menu
