#include "menu/planner.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "menu/slug.h"
#include "menu/store.h"

namespace comanda::menu {
namespace {

template <typename Row>
bool HasId(const std::vector<Row>& rows, const std::string& id) {
  return std::ranges::find(rows, id, &Row::id) != rows.end();
}

Depth DepthOf(const ProductPatch& patch) {
  return patch.modifier_categories.empty() ? Depth::kVariants : Depth::kModifiers;
}

}  // namespace

Planner::Planner(db::Session& session, db::CompanyId company, json::Errors& errors)
    : session_(session),
      company_(company),
      errors_(errors),
      categories_(SelectCategories(session, company)) {}

void Planner::Note(const Place& place, std::string_view field, FieldCode code,
                   std::string message) {
  const std::string path = place.path.empty() ? "" : place.path + ".";
  errors_.Add(path + std::string(field), code, std::move(message), place.offset);
}

void Planner::Insert(const ProductPatch& patch) { Plan(patch, std::nullopt); }

void Planner::Change(const ProductPatch& patch, Product stored) { Plan(patch, std::move(stored)); }

void Planner::Upsert(const ProductPatch& patch) {
  const bool has_sku = std::ranges::any_of(
      patch.variants, [](const VariantPatch& variant) { return variant.sku && *variant.sku; });
  if (!patch.id && !has_sku) {
    Note(patch.place, "id", FieldCode::kIdOrSkuRequired,
         "or a sku is required, so that the same call can be sent again without making the product "
         "twice");
    return;
  }
  std::optional<Product> stored = FindStored(patch);
  if (stored && !hit_.insert(stored->id).second) {
    Note(patch.place, patch.id ? "id" : "sku", FieldCode::kDuplicate,
         "names product " + stored->id + ", which another row of this call names too");
    return;
  }
  if (!stored && patch.id && !hit_.insert(*patch.id).second) {
    Note(patch.place, "id", FieldCode::kDuplicate, "stands in another row of this call already");
    return;
  }
  Plan(patch, std::move(stored));
}

std::optional<Product> Planner::FindStored(const ProductPatch& patch) {
  const Depth depth = DepthOf(patch);
  if (patch.id) {
    if (auto stored = SelectWhole(session_, company_, *patch.id, depth)) return stored;
  }
  for (const VariantPatch& variant : patch.variants) {
    if (!variant.sku || !*variant.sku) continue;
    const auto holder = SkuHolder(session_, company_, **variant.sku);
    if (holder) return SelectWhole(session_, company_, holder->product_id, depth);
  }
  return std::nullopt;
}

void Planner::Plan(const ProductPatch& patch, std::optional<Product> before) {
  Planned row{.patch = &patch, .before = std::move(before), .after = {}, .targets = {}};
  const bool is_new = !row.before;
  if (is_new) {
    row.after.id = patch.id.value_or(patch.fresh_id);
  } else {
    row.after = *row.before;
  }
  Categorise(patch, is_new, row.after);
  RefuseUnknownStation(patch);
  RefuseForeignIds(patch, row.before);
  row.targets = Merge(patch, is_new, row.after, errors_);
  rows_.push_back(std::move(row));
}

// -- categories -----------------------------------------------------------------------------------

std::optional<std::string> Planner::FindCategory(const ProductPatch& patch) {
  if (patch.category_id) {
    const auto found = std::ranges::find(categories_, *patch.category_id, &Category::id);
    if (found == categories_.end()) {
      Note(patch.place, "category_id", FieldCode::kNotFound,
           "is no category of this company: send one of GET /v1/menu, or a category_name");
      return std::nullopt;
    }
    if (patch.category_name && Folded(*patch.category_name) != Folded(found->name)) {
      Note(patch.place, "category_name", FieldCode::kNotAllowed,
           "names another category than category_id, which is " + found->name +
               ": send one of the two");
    }
    return found->id;
  }
  const std::string folded = Folded(*patch.category_name);
  for (const Category& category : categories_) {
    if (Folded(category.name) == folded) return category.id;
  }
  Category made;
  made.id = patch.fresh_category_id;
  made.name = *patch.category_name;
  made.slug = Slug(made.name);
  for (const Category& other : categories_) {
    made.position = std::max(made.position, other.position + 1);
  }
  categories_.push_back(made);
  new_categories_.push_back(std::move(made));
  return categories_.back().id;
}

void Planner::Categorise(const ProductPatch& patch, bool is_new, Product& product) {
  if (!patch.category_id && !patch.category_name) {
    if (is_new) {
      Note(patch.place, "category_id", FieldCode::kRequired,
           "or category_name is required for a new product");
    }
    return;
  }
  std::optional<std::string> id = FindCategory(patch);
  if (!id) return;
  product.category_id = *std::move(id);
  if (!is_new) return;
  auto [next, first] = next_positions_.try_emplace(product.category_id, 0);
  if (first) next->second = NextPosition(session_, company_, product.category_id);
  product.position = next->second++;
}

// -- references -----------------------------------------------------------------------------------

void Planner::RefuseUnknownStation(const ProductPatch& patch) {
  if (!patch.kitchen_id || !*patch.kitchen_id) return;
  const std::string& id = **patch.kitchen_id;
  if (stations_.contains(id)) return;
  if (HasStation(session_, company_, id)) {
    stations_.insert(id);
    return;
  }
  Note(patch.place, "kitchen_id", FieldCode::kNotFound,
       "must be the id of one of the company's stations");
}

void Planner::RefuseForeignIds(const ProductPatch& patch, const std::optional<Product>& before) {
  static const Product kNothing;
  const Product& stored = before ? *before : kNothing;
  // An id that a new row brings must be nobody's, in the database and in the call.
  const auto judge = [&](const Place& place, const std::string& id, bool elsewhere) {
    const auto claimed = claimed_.try_emplace(id, rows_.size()).first;
    if (!elsewhere && claimed->second == rows_.size()) return;
    Note(place, "id", FieldCode::kNotAllowed,
         "is that of a row below another product: leave it out or send another UUID");
  };
  for (const VariantPatch& variant : patch.variants) {
    if (!variant.id || HasId(stored.variants, *variant.id)) continue;
    judge(variant.place, *variant.id,
          ProductOfVariant(session_, company_, *variant.id).has_value());
  }
  for (const ModifierCategoryPatch& category : patch.modifier_categories) {
    if (category.id && !HasId(stored.modifier_categories, *category.id)) {
      judge(category.place, *category.id,
            ProductOfModifierCategory(session_, company_, *category.id).has_value());
    }
    for (const ModifierPatch& modifier : category.modifiers) {
      const auto holds = [&](const ModifierCategory& candidate) {
        return HasId(candidate.modifiers, *modifier.id);
      };
      if (!modifier.id || std::ranges::any_of(stored.modifier_categories, holds)) continue;
      judge(modifier.place, *modifier.id,
            ProductOfModifier(session_, company_, *modifier.id).has_value());
    }
  }
}

// -- skus -----------------------------------------------------------------------------------------

// After all rows, because two variants of one call may swap theirs.
void Planner::RefuseTakenSkus() {
  std::unordered_map<std::string_view, const Variant*> planned;  // by id
  std::unordered_multimap<std::string_view, const Variant*> by_sku;
  for (const Planned& row : rows_) {
    for (const Variant& variant : row.after.variants) {
      planned.emplace(variant.id, &variant);
      if (variant.sku) by_sku.emplace(*variant.sku, &variant);
    }
  }
  // Another variant that has the sku when all is done.
  const auto find_other = [&](const Variant& wanting) -> std::optional<std::string> {
    const auto [begin, end] = by_sku.equal_range(*wanting.sku);
    for (auto it = begin; it != end; ++it) {
      if (it->second->id != wanting.id) return it->second->id;
    }
    const auto holder = SkuHolder(session_, company_, *wanting.sku);
    if (!holder || planned.contains(holder->variant_id)) return std::nullopt;
    return holder->variant_id;
  };
  for (const Planned& row : rows_) {
    for (size_t i = 0; i < row.targets.size(); ++i) {
      const VariantPatch& patch = row.patch->variants[i];
      if (row.targets[i] == kNoVariant || !patch.sku || !*patch.sku) continue;
      const auto holder = find_other(row.after.variants[row.targets[i]]);
      if (!holder) continue;
      Note(patch.place, "sku", FieldCode::kSkuTaken,
           "belongs to variant " + *holder + ": a sku is one variant's");
    }
  }
}

void Planner::Finish() {
  RefuseTakenSkus();
  errors_.ThrowIfAny();
}

}  // namespace comanda::menu
