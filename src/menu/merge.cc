#include "menu/merge.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/nearest.h"
#include "base/problem.h"
#include "base/text.h"
#include "menu/fields.h"
#include "menu/slug.h"

namespace comanda::menu {
namespace {

// The rows of a list, and which of them have been matched by a row that was sent.
template <typename Row>
class Matcher {
 public:
  explicit Matcher(std::vector<Row>& rows)
      : rows_(rows), matched_(rows.size(), false), stored_(rows.size()) {}

  template <typename Fits>
  std::optional<size_t> Find(Fits fits, bool matched_too = true) const {
    for (size_t i = 0; i < rows_.size(); ++i) {
      if ((matched_too || !matched_[i]) && fits(rows_[i])) return i;
    }
    return std::nullopt;
  }
  std::optional<size_t> FindId(const std::string& id) const {
    return Find([&](const Row& row) { return row.id == id; });
  }
  std::optional<size_t> FindName(const Row& sent, bool matched_too = true) const {
    if (!IsSent(sent, &Row::name)) return std::nullopt;
    const std::string folded = Folded(sent.name);
    return Find(
        [&](const Row& row) { return !claimed_.contains(row.id) && Folded(row.name) == folded; },
        matched_too);
  }
  // Keeps a row for one that names its id, from those that match by name.
  void Claim(const std::string& id) { claimed_.insert(id); }
  // False if another row has matched it already.
  bool Match(size_t index) {
    const bool first = !matched_[index];
    matched_[index] = true;
    return first;
  }
  size_t Append(Row row) {
    row.position = 0;
    for (const Row& other : rows_) row.position = std::max(row.position, other.position + 1);
    rows_.push_back(std::move(row));
    matched_.push_back(true);
    return rows_.size() - 1;
  }
  size_t stored() const { return stored_; }
  Row& operator[](size_t index) { return rows_[index]; }

 private:
  std::vector<Row>& rows_;
  std::vector<bool> matched_;
  std::unordered_set<std::string> claimed_;
  const size_t stored_;
};

class Merger {
 public:
  Merger(const Form& form, json::Errors& errors) : form_(form), errors_(errors) {}

  Targets Apply(const Product& sent, bool is_new, Product& product);

 private:
  // `list` is the JSON name of the list.
  template <typename Row>
  Targets MergeList(const std::vector<Row>& sent, std::vector<Row>& rows, size_t max,
                    const Sent& parent, std::string_view list);

  // Copies the fields that were sent; in a file also the missing ones, which have their defaults.
  template <typename Row>
  void ApplyFields(const Row& sent, Row& row);
  void Apply(const Variant& sent, Variant& variant) { ApplyFields(sent, variant); }
  void Apply(const Modifier& sent, Modifier& modifier) { ApplyFields(sent, modifier); }
  void Apply(const ModifierCategory& sent, ModifierCategory& category);
  void RefuseUnsatisfiable(const ModifierCategory& category, const ModifierCategory& sent);

  std::optional<size_t> FindSku(const Variant& sent, const Matcher<Variant>& variants) const;
  std::optional<size_t> Find(const Variant& sent, const Matcher<Variant>& variants) const;
  template <typename Row>
  std::optional<size_t> Find(const Row& sent, const Matcher<Row>& rows) const;
  template <typename Row>
  size_t MergeRow(const Row& sent, Matcher<Row>& rows);
  // True if it is clear which variant the shorthand means.
  bool IsPlain(const Variant& sent, const Matcher<Variant>& variants);
  template <typename Row>
  bool IsPlain(const Row&, const Matcher<Row>&) {
    return true;
  }
  // True if a new row has its required fields.
  bool IsComplete(const Variant& sent, const Matcher<Variant>& variants);
  template <typename Row>
  bool IsComplete(const Row& sent, const Matcher<Row>&) {
    return HasName(sent);
  }
  template <typename Row>
  bool HasName(const Row& sent);

  const Form& form_;
  json::Errors& errors_;
};

// Matching.

std::optional<size_t> Merger::FindSku(const Variant& sent, const Matcher<Variant>& variants) const {
  if (!sent.sku) return std::nullopt;
  const auto same = [&](const Variant& variant) { return variant.sku == sent.sku; };
  if (const auto found = variants.Find(same)) return found;
  return variants.Find([&](const Variant& variant) {
    return variant.sku && AsciiEqualsIgnoreCase(TrimmedCode(*variant.sku), *sent.sku);
  });
}

std::optional<size_t> Merger::Find(const Variant& sent, const Matcher<Variant>& variants) const {
  if (form_.adds_variant()) return std::nullopt;
  if (const auto found = variants.FindId(sent.id); found || form_.in_file()) return found;
  if (const auto found = FindSku(sent, variants)) return found;
  if (sent.sent.shorthand) {
    return variants.stored() == 1 ? std::optional<size_t>(0) : std::nullopt;
  }
  // Variants with the same name are different ones if each has its own sku.
  return variants.FindName(sent, !IsSent(sent, &Variant::sku));
}

template <typename Row>
std::optional<size_t> Merger::Find(const Row& sent, const Matcher<Row>& rows) const {
  if (const auto found = rows.FindId(sent.id); found || form_.in_file()) return found;
  // Rows of one name match by their order.
  return rows.FindName(sent, false);
}

// The field of a shorthand to name in an error.
std::string_view FirstSent(const Variant& sent) {
  if (IsSent(sent, &Variant::sku)) return "sku";
  if (IsSent(sent, &Variant::price)) return "price";
  if (IsSent(sent, &Variant::original_price)) return "original_price";
  if (IsSent(sent, &Variant::packaging_price)) return "packaging_price";
  if (IsSent(sent, &Variant::cost)) return "cost";
  return IsSent(sent, &Variant::stock) ? "stock" : "stock_threshold";
}

bool Merger::IsPlain(const Variant& sent, const Matcher<Variant>& variants) {
  if (form_.in_file() || !sent.sent.shorthand || variants.stored() <= 1) return true;
  if (FindSku(sent, variants)) return true;
  Note(errors_, sent.sent, FirstSent(sent), FieldCode::kNotAllowed,
       "is for a product of one price; this one has several variants: send variants[], or the sku "
       "of one of them");
  return false;
}

template <typename Row>
bool Merger::HasName(const Row& sent) {
  if (!sent.name.empty()) return true;
  Note(errors_, sent.sent, "name", FieldCode::kRequired, "is required for a new row");
  return false;
}

bool Merger::IsComplete(const Variant& sent, const Matcher<Variant>& variants) {
  bool complete = HasName(sent);
  if (!IsSent(sent, &Variant::price)) {
    Note(errors_, sent.sent, "price", FieldCode::kRequired, "is required for a new variant");
    complete = false;
  }
  if (form_.adds_variant() && variants.FindName(sent)) {
    Note(errors_, sent.sent, "name", FieldCode::kDuplicate,
         "is the name of a variant that the product has already");
    complete = false;
  }
  return complete;
}

template <typename Row>
std::string_view KeyOf(const Row& sent) {
  if (sent.sent.has_id) return "id";
  if constexpr (std::is_same_v<Row, Variant>) {
    if (IsSent(sent, &Variant::sku)) return "sku";
  }
  return "name";
}

// Merging.

template <typename Row>
size_t Merger::MergeRow(const Row& sent, Matcher<Row>& rows) {
  if (!IsPlain(sent, rows)) return kRefused;
  std::optional<size_t> target = Find(sent, rows);
  if (target && !rows.Match(*target)) {
    Note(errors_, sent.sent, KeyOf(sent), FieldCode::kDuplicate,
         "names a row that another row of this call names too");
    return kRefused;
  }
  if (!target) {
    if (!IsComplete(sent, rows)) return kRefused;
    Row row;
    row.id = sent.id;
    // ApplyFields() does not copy it for a shorthand, which does not send a name.
    row.name = sent.name;
    target = rows.Append(std::move(row));
  }
  Apply(sent, rows[*target]);
  return *target;
}

template <typename Row>
Targets Merger::MergeList(const std::vector<Row>& sent, std::vector<Row>& rows, size_t max,
                          const Sent& parent, std::string_view list) {
  Matcher<Row> matcher(rows);
  for (const Row& row : sent) {
    if (row.sent.has_id) matcher.Claim(row.id);
  }
  Targets targets;
  for (const Row& row : sent) targets.push_back(MergeRow(row, matcher));
  if (rows.size() > max) {
    Note(errors_, parent, list, FieldCode::kTooManyItems,
         "would be " + std::to_string(rows.size()) + " with those that are stored: at most " +
             std::to_string(max) + " are possible");
  }
  return targets;
}

template <typename Row>
void Merger::ApplyFields(const Row& sent, Row& row) {
  uint32_t mask = sent.sent.fields;
  if (form_.in_file() && !form_.is_of_cloud) {
    mask = ~0u;
    if constexpr (std::is_same_v<Row, Variant>) {
      if (!sent.stock) mask &= ~BitOf(&Variant::stock);
    }
  }
  if constexpr (requires { row.sku; }) {
    // One that the upgrade left with blanks around it (migration 0019) stays as it is if it is sent
    // back.
    const bool stays = row.sku && sent.sku && TrimmedCode(*row.sku) == *sent.sku;
    if (stays) mask &= ~BitOf(&Row::sku);
  }
  CopyFields(sent, mask, row);
}

void Merger::Apply(const ModifierCategory& sent, ModifierCategory& category) {
  const ModifierCategory before = category;
  ApplyFields(sent, category);
  const bool min_is_sent = IsSent(sent, &ModifierCategory::min_modifiers);
  const bool required_is_sent = IsSent(sent, &ModifierCategory::required);
  if (required_is_sent && !min_is_sent && category.required && category.min_modifiers == 0) {
    category.min_modifiers = 1;
  }
  if (category.type == "one" && !category.max_modifiers) category.max_modifiers = 1;
  const bool contradicts =
      category.max_modifiers && *category.max_modifiers < category.min_modifiers;
  if (contradicts) {
    const std::string_view blamed = IsSent(sent, &ModifierCategory::max_modifiers) ? "max_modifiers"
                                    : min_is_sent                                  ? "min_modifiers"
                                    : required_is_sent                             ? "required"
                                                                                   : "type";
    Note(errors_, sent.sent, blamed, FieldCode::kOutOfRange,
         "leaves min_modifiers at " + std::to_string(category.min_modifiers) +
             " above max_modifiers at " + std::to_string(*category.max_modifiers));
  }
  MergeList(sent.modifiers, category.modifiers, kModifiersMax, sent.sent, "modifiers");
  // One that is sent back as the cloud made it is no change.
  const bool is_judged = category != before && !contradicts && !form_.is_of_cloud;
  if (is_judged && !CanBeSatisfied(category)) RefuseUnsatisfiable(category, sent);
}

void Merger::RefuseUnsatisfiable(const ModifierCategory& category, const ModifierCategory& sent) {
  const std::string_view blamed = IsSent(sent, &ModifierCategory::min_modifiers) ? "min_modifiers"
                                  : IsSent(sent, &ModifierCategory::required)    ? "required"
                                                                                 : "modifiers";
  Note(errors_, sent.sent, blamed, FieldCode::kOutOfRange,
       "requires " + std::to_string(category.min_modifiers) +
           " of a guest, who cannot choose as many: lower min_modifiers, add visible modifiers, or "
           "send max_limit with those that may be chosen several times");
}

Targets Merger::Apply(const Product& sent, bool is_new, Product& product) {
  ApplyFields(sent, product);
  if (is_new && !IsSent(sent, &Product::name)) {
    Note(errors_, sent.sent, "name", FieldCode::kRequired, "is required for a new product");
  }
  if (product.slug.empty()) product.slug = Slug(product.name);
  if (is_new && sent.sent.has_variants && sent.variants.empty()) {
    Note(errors_, sent.sent, "variants", FieldCode::kEmpty, "must have at least one item");
  } else if (is_new && sent.variants.empty()) {
    Note(errors_, sent.sent, "price", FieldCode::kRequired,
         "is required for a new product, or variants[] with a price each");
  }
  MergeList(sent.modifier_categories, product.modifier_categories, kModifierCategoriesMax,
            sent.sent, "modifier_categories");
  return MergeList(sent.variants, product.variants, kVariantsMax, sent.sent, "variants");
}

}  // namespace

void Note(json::Errors& errors, const Sent& sent, std::string_view field, FieldCode code,
          std::string message) {
  const std::string path = sent.path.empty() ? "" : sent.path + ".";
  if (code == FieldCode::kRequired && errors.size() < kFieldErrorsMax) {
    message += MeantBy(field, sent.unknown);
  }
  errors.Add(path + std::string(field), code, std::move(message), sent.offset);
}

Targets Merge(const Product& sent, const Form& form, bool is_new, Product& product,
              json::Errors& errors) {
  return Merger(form, errors).Apply(sent, is_new, product);
}

}  // namespace comanda::menu
