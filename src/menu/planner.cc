#include "menu/planner.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "menu/fields.h"
#include "menu/slug.h"
#include "menu/store.h"

namespace comanda::menu {
namespace {

using company::UpsertResult;

// After all products have been planned, because two variants of a draft may swap their skus.
class SkuCheck {
 public:
  SkuCheck(db::Session& session, db::CompanyId company, const Draft& draft, const Plan& plan,
           json::Errors& errors)
      : session_(session), company_(company), form_(draft.form), errors_(errors) {
    for (const PlannedProduct& row : plan.products) AddRow(row);
    for (size_t i = 0; i < wanted_.size(); ++i) {
      by_code_.emplace(FoldedCode(*wanted_[i].after->sku), i);
    }
  }

  void RefuseTaken() {
    for (size_t i = 0; i < wanted_.size(); ++i) {
      const Wanted& own = wanted_[i];
      if (!own.sent || !own.is_new) continue;
      if (RepeatsAnother(i)) {
        Note(errors_, own.sent->sent, "sku", FieldCode::kDuplicate,
             "stands in another row already");
      } else if (const auto holder = FindHolder(own)) {
        Note(errors_, own.sent->sent, "sku", FieldCode::kSkuTaken,
             "belongs to variant " + holder->id + Spelt(holder->sku, *own.after->sku) +
                 ": a sku is one variant's");
      }
    }
  }

  // Several modifiers may have one sku, if they spell it alike.
  void RefuseOtherSpellings(const std::vector<PlannedProduct>& products) {
    if (form_.is_of_cloud) return;
    for (const PlannedProduct& row : products) {
      for (const ModifierCategory& category : row.sent->modifier_categories) {
        for (const Modifier& modifier : category.modifiers) RefuseOtherSpelling(modifier);
      }
    }
  }

 private:
  // A variant with a sku, as it will be.
  struct Wanted {
    const Variant* after;
    const Variant* sent;  // null: the draft does not name it
    bool is_new;          // its sku, or the variant
  };

  void AddRow(const PlannedProduct& row) {
    std::vector<const Variant*> sent(row.after.variants.size(), nullptr);
    for (size_t i = 0; i < row.targets.size(); ++i) {
      if (row.targets[i] != kRefused) sent[row.targets[i]] = &row.sent->variants[i];
    }
    for (size_t i = 0; i < sent.size(); ++i) {
      const Variant& after = row.after.variants[i];
      planned_.insert(after.id);
      if (!after.sku) continue;
      const Variant* before = row.before ? FindById(row.before->variants, after.id) : nullptr;
      wanted_.push_back({&after, sent[i], !before || before->sku != after.sku});
    }
  }

  bool Collide(const std::string& one, const std::string& other) const {
    if (form_.is_of_cloud) return one == other;
    return AsciiEqualsIgnoreCase(TrimmedCode(one), TrimmedCode(other));
  }

  // True if another row of the draft has the sku: one before it, or one whose sku does not change.
  bool RepeatsAnother(size_t index) const {
    const Wanted& own = wanted_[index];
    const auto [begin, end] = by_code_.equal_range(FoldedCode(*own.after->sku));
    return std::any_of(begin, end, [&](const auto& entry) {
      const Wanted& other = wanted_[entry.second];
      const bool is_other = other.sent && other.after->id != own.after->id;
      const bool is_first = entry.second < index || !other.is_new;
      return is_other && is_first && Collide(*own.after->sku, *other.after->sku);
    });
  }

  // Another variant that will have the sku after all writes.
  std::optional<HeldSku> FindHolder(const Wanted& own) const {
    const auto [begin, end] = by_code_.equal_range(FoldedCode(*own.after->sku));
    for (auto it = begin; it != end; ++it) {
      const Wanted& other = wanted_[it->second];
      if (other.sent || other.after->id == own.after->id) continue;
      if (Collide(*own.after->sku, *other.after->sku)) {
        return HeldSku{other.after->id, *other.after->sku};
      }
    }
    for (HeldSku& holder : SelectHolders(session_, company_, *own.after->sku)) {
      if (planned_.contains(holder.id) || !Collide(*own.after->sku, holder.sku)) continue;
      return std::move(holder);
    }
    return std::nullopt;
  }

  static std::string Spelt(const std::string& held, const std::string& wanted) {
    return held == wanted ? "" : ", which spells it " + held;
  }

  void RefuseOtherSpelling(const Modifier& sent) {
    if (!sent.sku) return;
    const auto [first, is_first] = spellings_.try_emplace(FoldedCode(*sent.sku), *sent.sku);
    if (!is_first && first->second == *sent.sku) return;
    const auto stored = FindSpellingOfModifiers(session_, company_, *sent.sku);
    if (stored && TrimmedCode(*stored) == *sent.sku) return;
    if (is_first && !stored) return;
    Note(errors_, sent.sent, "sku", is_first ? FieldCode::kSkuTaken : FieldCode::kDuplicate,
         "is spelt " + (is_first ? *stored : first->second) +
             " by another modifier: spell it alike, or send another one");
  }

  db::Session& session_;
  const db::CompanyId company_;
  const Form& form_;
  json::Errors& errors_;
  std::unordered_set<std::string_view> planned_;
  std::vector<Wanted> wanted_;
  std::unordered_multimap<std::string, size_t> by_code_;  // indexes of wanted_
  std::unordered_map<std::string, std::string> spellings_;
};

class Planner {
 public:
  Planner(db::Session& session, db::CompanyId company, const Draft& draft, json::Errors& errors)
      : session_(session),
        company_(company),
        draft_(draft),
        errors_(errors),
        categories_(SelectCategories(session, company)) {}

  Plan Make();

 private:
  // Adds stations and categories of a file that are new or differ to the plan.
  template <typename Row>
  void Compare(const std::vector<Row>& stored, const std::vector<Row>& sent,
               std::vector<Row>& changed, company::ImportCounts& counts);

  void Find(const Product& sent);
  bool RepeatsCode(const Product& sent, bool is_new);
  std::optional<Product> FindStored(const Product& sent);
  void LocateRows(const Product& sent, const Product& stored);
  template <typename Row, typename HolderOf>
  bool Moves(const Row& sent, HolderOf holder_of);
  void DropMoved(Product& product) const;

  void Merge(PlannedProduct& row);
  // Adds an error for each read-only field that differs from the stored value (Sent::claimed_id
  // etc.).
  void RefuseOtherClaims(const Product& sent, const Product* stored);
  // In a change of a product, accepts lists that equal the stored ones, so that clients can send
  // back what they have read. The stock of variants is taken from the request.
  Targets MergeSentBack(const Product& sent, Product& product);
  void Categorise(const Product& sent, bool is_new, Product& product);
  std::optional<std::string> FindCategory(const Product& sent);
  void RefuseUnknownStation(const Product& sent);

  db::Session& session_;
  const db::CompanyId company_;
  const Draft& draft_;
  json::Errors& errors_;
  // Stored and new ones.
  std::vector<Category> categories_;
  // By category.
  std::unordered_map<std::string, int64_t> next_positions_;
  // Stored products that the draft has matched.
  std::unordered_set<std::string> hit_;
  std::unordered_set<std::string> sent_codes_;
  // Those that will exist.
  std::unordered_set<std::string> stations_;
  Plan plan_;
};

// What a file does not say of a station stays as it is: people set it in the panel too.
std::vector<Station> Merged(const std::vector<Station>& stored, std::vector<Station> sent) {
  for (Station& station : sent) {
    const Station* const former = FindById(stored, station.id);
    if (former != nullptr) CopyFields(*former, ~station.sent.fields, station);
  }
  return sent;
}

Plan Planner::Make() {
  const std::vector<Station> stations = SelectStations(session_, company_);
  Compare(stations, Merged(stations, draft_.stations), plan_.stations, plan_.station_counts);
  Compare(categories_, draft_.categories, plan_.categories, plan_.category_counts);
  for (const auto& list : {stations, draft_.stations}) {
    for (const Station& station : list) stations_.insert(station.id);
  }
  for (const Product& sent : draft_.products) Find(sent);
  for (PlannedProduct& row : plan_.products) Merge(row);
  SkuCheck skus(session_, company_, draft_, plan_, errors_);
  skus.RefuseTaken();
  skus.RefuseOtherSpellings(plan_.products);
  return std::move(plan_);
}

template <typename Row>
void Planner::Compare(const std::vector<Row>& stored, const std::vector<Row>& sent,
                      std::vector<Row>& changed, company::ImportCounts& counts) {
  if (sent.empty()) return;
  std::unordered_map<std::string_view, const Row*> by_id;
  for (const Row& row : stored) by_id.emplace(row.id, &row);
  for (const Row& row : sent) {
    const auto found = by_id.find(row.id);
    const UpsertResult outcome = found == by_id.end()              ? UpsertResult::kInserted
                                 : SameFields(*found->second, row) ? UpsertResult::kUnchanged
                                                                   : UpsertResult::kUpdated;
    counts.Count(outcome);
    if (outcome != UpsertResult::kUnchanged) changed.push_back(row);
  }
}

// Finding the stored product and the stored rows below it.

void Planner::Find(const Product& sent) {
  const auto has_sku = [](const Variant& variant) { return variant.sku.has_value(); };
  if (draft_.form.top == Form::Top::kProducts && !sent.sent.has_id &&
      std::ranges::none_of(sent.variants, has_sku)) {
    Note(errors_, sent.sent, "id", FieldCode::kIdOrSkuRequired,
         "or a sku is required, so that the same call can be sent again without making the product "
         "twice");
    return;
  }
  std::optional<Product> stored = FindStored(sent);
  if (draft_.form == kPatchVariant && !FindById(stored->variants, sent.variants.front().id)) {
    throw NoSuch("variant", sent.variants.front().id);
  }
  if (stored && !hit_.insert(stored->id).second) {
    const auto keyed = std::ranges::find_if(sent.variants, has_sku);
    const bool by_id = sent.sent.has_id || keyed == sent.variants.end();
    Note(errors_, by_id ? sent.sent : keyed->sent, by_id ? "id" : "sku", FieldCode::kDuplicate,
         "names product " + stored->id + ", which another row of this call names too");
    return;
  }
  if (RepeatsCode(sent, !stored)) return;
  RefuseOtherClaims(sent, stored ? &*stored : nullptr);
  static const Product kNothing;
  if (!(draft_.form == kPatchProduct)) LocateRows(sent, stored ? *stored : kNothing);
  plan_.products.push_back(
      {.sent = &sent, .before = std::move(stored), .after = {}, .targets = {}});
}

// True, with an error, if a new product has the sku of a row before it.
bool Planner::RepeatsCode(const Product& sent, bool is_new) {
  const auto folded = [](const Variant& variant) { return FoldedCode(*variant.sku); };
  for (const Variant& variant : sent.variants) {
    if (!is_new || draft_.form.is_of_cloud || !variant.sku) continue;
    if (!sent_codes_.contains(folded(variant))) continue;
    Note(errors_, variant.sent, "sku", FieldCode::kDuplicate, "stands in another row already");
    return true;
  }
  for (const Variant& variant : sent.variants) {
    if (variant.sku) sent_codes_.insert(folded(variant));
  }
  return false;
}

// By id; in a bulk upsert also by the sku of a variant.
std::optional<Product> Planner::FindStored(const Product& sent) {
  const Form& form = draft_.form;
  const bool needs_modifiers = sent.sent.has_modifiers || !sent.modifier_categories.empty();
  const Depth depth = needs_modifiers ? Depth::kModifiers : Depth::kVariants;
  if (sent.sent.has_id || form.in_file()) {
    if (auto stored = SelectWhole(session_, company_, sent.id, depth)) return stored;
  }
  if (form.needs_product()) throw NoSuch("product", sent.id);
  if (form.top != Form::Top::kProducts) return std::nullopt;
  for (const Variant& variant : sent.variants) {
    if (!variant.sku) continue;
    const auto holder = FindSku(session_, company_, *variant.sku);
    if (holder) return SelectWhole(session_, company_, holder->product_id, depth);
  }
  return std::nullopt;
}

// True if the row, which is not below its product, is stored below another one. Only a file moves
// it.
template <typename Row, typename HolderOf>
bool Planner::Moves(const Row& sent, HolderOf holder_of) {
  const bool in_file = draft_.form.in_file();
  if (!in_file && !sent.sent.has_id) return false;
  const std::optional<std::string> holder = holder_of(session_, company_, sent.id);
  if (!holder) return false;
  if (in_file) {
    plan_.former_products.insert(*holder);
  } else {
    Note(errors_, sent.sent, "id", FieldCode::kNotAllowed,
         "is that of a row below another product: leave it out or send another UUID");
  }
  return in_file;
}

void Planner::LocateRows(const Product& sent, const Product& stored) {
  for (const Variant& variant : sent.variants) {
    if (FindById(stored.variants, variant.id)) continue;
    if (Moves(variant, ProductOfVariant)) plan_.moved.insert(variant.id);
  }
  for (const ModifierCategory& category : sent.modifier_categories) {
    const ModifierCategory* below = FindById(stored.modifier_categories, category.id);
    if (!below && Moves(category, ProductOfModifierCategory)) plan_.moved.insert(category.id);
    for (const Modifier& modifier : category.modifiers) {
      const auto has = [&](const ModifierCategory& other) {
        return FindById(other.modifiers, modifier.id) != nullptr;
      };
      const bool stays = draft_.form.in_file()
                             ? below && has(*below)
                             : std::ranges::any_of(stored.modifier_categories, has);
      if (!stays && Moves(modifier, ProductOfModifier)) plan_.moved.insert(modifier.id);
    }
  }
}

// Removes the rows that move away from their stored parent.
void Planner::DropMoved(Product& product) const {
  const auto moves = [&](const auto& row) { return plan_.moved.contains(row.id); };
  std::erase_if(product.variants, moves);
  std::erase_if(product.modifier_categories, moves);
  for (ModifierCategory& category : product.modifier_categories) {
    std::erase_if(category.modifiers, moves);
  }
}

// Merging.

void Planner::Merge(PlannedProduct& row) {
  const Product& sent = *row.sent;
  const bool is_new = !row.before;
  row.after.id = sent.id;
  if (row.before) {
    DropMoved(*row.before);
    row.after = *row.before;
  }
  if (!draft_.form.in_file()) Categorise(sent, is_new, row.after);
  RefuseUnknownStation(sent);
  row.targets = draft_.form == kPatchProduct
                    ? MergeSentBack(sent, row.after)
                    : menu::Merge(sent, draft_.form, is_new, row.after, errors_);
  for (size_t i = 0; i < row.targets.size(); ++i) {
    const Variant& variant = sent.variants[i];
    if (row.targets[i] == kRefused || variant.stock || !plan_.moved.contains(variant.id)) continue;
    const auto counted = SelectCounted(session_, company_, variant.id);
    if (counted) row.after.variants[row.targets[i]].stock = counted->stock;
  }
}

void Planner::RefuseOtherClaims(const Product& sent, const Product* stored) {
  const auto differs = [](const std::optional<std::string>& claimed, const std::string& id) {
    return claimed && *claimed != id;
  };
  if (differs(sent.sent.claimed_id, sent.id)) {
    Note(errors_, sent.sent, "id", FieldCode::kReadOnly, "is another one than the path names");
  }
  if (stored && differs(sent.sent.claimed_created_at, FormatInstant(stored->created_at))) {
    Note(errors_, sent.sent, "created_at", FieldCode::kReadOnly,
         "is set by the box and cannot be changed: leave it out");
  }
  // The client does not know the id of a new product yet, so it cannot have claimed one.
  if (!stored && !sent.sent.has_id) return;
  for (const Variant& variant : sent.variants) {
    if (differs(variant.sent.claimed_id, variant.id)) {
      Note(errors_, variant.sent, "id", FieldCode::kReadOnly, "is another one than the path names");
    }
    if (differs(variant.sent.claimed_product_id, stored ? stored->id : sent.id)) {
      Note(errors_, variant.sent, "product_id", FieldCode::kReadOnly,
           "is another one than that of the product: leave it out");
    }
  }
}

// True if each list that was sent is as long as the stored one.
bool HasAsManyRows(const Product& sent, const Product& stored) {
  if (sent.sent.has_variants && sent.variants.size() != stored.variants.size()) return false;
  if (!sent.sent.has_modifiers) return true;
  if (sent.modifier_categories.size() != stored.modifier_categories.size()) return false;
  size_t listed = 0, rows = 0, held = 0;
  for (const ModifierCategory& category : sent.modifier_categories) {
    if (category.sent.has_modifiers) ++listed;
    rows += category.modifiers.size();
  }
  for (const ModifierCategory& category : stored.modifier_categories) {
    held += category.modifiers.size();
  }
  return listed < sent.modifier_categories.size() || rows == held;
}

Targets Planner::MergeSentBack(const Product& sent, Product& product) {
  Product own = sent;
  own.variants.clear();
  own.modifier_categories.clear();
  menu::Merge(own, draft_.form, false, product, errors_);

  const Product before = product;
  json::Errors differences;
  Product lists;
  lists.sent = {.path = sent.sent.path, .offset = sent.sent.offset};
  lists.modifier_categories = sent.modifier_categories;
  lists.sent.has_modifiers = sent.sent.has_modifiers;
  menu::Merge(lists, draft_.form, false, product, differences);
  if (!differences.empty() || product.modifier_categories != before.modifier_categories ||
      !HasAsManyRows(lists, before)) {
    Note(errors_, sent.sent, "modifier_categories", FieldCode::kNotAllowed,
         "differ from those of the product: change them with PUT /v1/menu/products");
    product.modifier_categories = before.modifier_categories;
  }

  json::Errors other_variants;
  lists = Product();
  lists.sent.has_variants = sent.sent.has_variants;
  lists.variants = sent.variants;
  Targets targets = menu::Merge(lists, draft_.form, false, product, other_variants);
  std::vector<Variant> recounted = product.variants;
  for (size_t i = 0; i < recounted.size() && i < before.variants.size(); ++i) {
    recounted[i].stock = before.variants[i].stock;
  }
  if (other_variants.empty() && recounted == before.variants && HasAsManyRows(lists, before)) {
    return targets;
  }
  product.variants = before.variants;
  Note(errors_, sent.sent, "variants", FieldCode::kNotAllowed,
       "differ from those of the product: change one with PATCH "
       "/v1/menu/products/{id}/variants/{variantId}, add one with POST "
       "/v1/menu/products/{id}/variants");
  return Targets(sent.variants.size(), kRefused);
}

void Planner::Categorise(const Product& sent, bool is_new, Product& product) {
  if (sent.category_id.empty() && sent.category_name.empty()) {
    if (is_new) {
      Note(errors_, sent.sent, "category_id", FieldCode::kRequired,
           "or category_name is required for a new product");
    }
    return;
  }
  std::optional<std::string> id = FindCategory(sent);
  if (!id) return;
  product.category_id = *std::move(id);
  if (!is_new) return;
  auto [next, first] = next_positions_.try_emplace(product.category_id, 0);
  if (first) next->second = NextPosition(session_, company_, product.category_id);
  product.position = next->second++;
}

// By id, else by name, else a new category.
std::optional<std::string> Planner::FindCategory(const Product& sent) {
  if (!sent.category_id.empty()) {
    const Category* found = FindById(categories_, sent.category_id);
    if (!found) {
      Note(errors_, sent.sent, "category_id", FieldCode::kNotFound,
           "is no category of this company: send one of GET /v1/menu, or a category_name");
      return std::nullopt;
    }
    if (!sent.category_name.empty() && Folded(sent.category_name) != Folded(found->name)) {
      Note(errors_, sent.sent, "category_name", FieldCode::kNotAllowed,
           "names another category than category_id, which is " + found->name +
               ": send one of the two");
    }
    return found->id;
  }
  const std::string folded = Folded(sent.category_name);
  for (const Category& category : categories_) {
    if (Folded(category.name) == folded) return category.id;
  }
  Category made;
  made.id = sent.new_category_id;
  made.name = sent.category_name;
  made.slug = Slug(made.name);
  for (const Category& other : categories_) {
    made.position = std::max(made.position, other.position + 1);
  }
  plan_.category_counts.Count(UpsertResult::kInserted);
  plan_.categories.push_back(made);
  categories_.push_back(std::move(made));
  return categories_.back().id;
}

void Planner::RefuseUnknownStation(const Product& sent) {
  if (!sent.kitchen_id || stations_.contains(*sent.kitchen_id)) return;
  Note(errors_, sent.sent, "kitchen_id", FieldCode::kNotFound,
       "must be the id of one of the company's stations");
}

}  // namespace

Plan MakePlan(db::Session& session, db::CompanyId company, const Draft& draft,
              json::Errors& errors) {
  return Planner(session, company, draft, errors).Make();
}

Refusal NoSuch(std::string_view noun, std::string_view id) {
  return Refusal(Problem::kNotFound,
                 "there is no " + std::string(noun) + " " + std::string(id) + " in the menu");
}

}  // namespace comanda::menu
