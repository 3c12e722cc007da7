#include "menu/import.h"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "company/import_row.h"
#include "json/writer.h"
#include "menu/slug.h"
#include "menu/store.h"

namespace comanda::menu {
namespace {

using company::Distinct;
using company::kNameRule;
using company::kProseRule;
using company::kRowsMax;
using company::kUrlRule;
using company::Outcome;
using company::RowIds;
using company::Tally;

constexpr size_t kVariantsMax = 100;              // of one product
constexpr size_t kModifierCategoriesMax = 50;     // of one product
constexpr size_t kModifiersMax = 200;             // of one category
constexpr size_t kImagesMax = 50;                 // of one product
constexpr int64_t kModifierCountMax = 1'000;      // min_modifiers, max_modifiers, max_limit
constexpr int64_t kStockMax = 1'000'000'000'000;  // a thousand million, in thousandths
constexpr json::TextRule kSkuRule = {.max = 100, .card_numbers_refused = false};
constexpr std::string_view kOnlyVariant = "Default";

// -- reading --------------------------------------------------------------------------------------

class Reader {
 public:
  explicit Reader(const company::Company& company)
      : decimals_(company.currency_decimals),
        stations_(company.id, "station"),
        categories_(company.id, "category"),
        products_(company.id, "product"),
        variants_(company.id, "variant"),
        modifier_categories_(company.id, "modifier_category"),
        modifiers_(company.id, "modifier") {}

  Draft Read(json::ObjectReader& row);

 private:
  CategoryDraft ReadCategory(json::ObjectReader& row);
  ProductDraft ReadProduct(json::ObjectReader& row, const std::string& category_id);
  std::vector<VariantDraft> ReadVariants(json::ObjectReader& row, const std::string& product_id);
  void ReadPrices(json::ObjectReader& row, VariantDraft& variant);
  std::vector<ModifierCategoryDraft> ReadModifierCategories(json::ObjectReader& row,
                                                            const std::string& product_id);
  ModifierCategoryDraft ReadModifierCategory(json::ObjectReader& row,
                                             const std::string& product_id);
  std::vector<ModifierDraft> ReadModifiers(json::ObjectReader& row, const std::string& category_id);

  int decimals_;
  RowIds stations_, categories_, products_, variants_, modifier_categories_, modifiers_;
  Distinct skus_;
};

// The natural key of a row that has a name below a parent; empty where the name could not be read.
std::string KeyBelow(const std::string& parent_id, const std::string& name) {
  return name.empty() ? "" : parent_id + ":" + Folded(name);
}

// The natural key of a row that has a sku, or empty. A wrong sku is noted where it is read.
std::string SkuKey(json::ObjectReader& row) {
  const std::optional<json::Value> sku = row.Raw("sku");
  if (!sku || sku->kind() != json::Kind::kText || sku->text().empty()) return "";
  return "sku:" + std::string(sku->text());
}

std::string ReadName(json::ObjectReader& row) {
  return row.RequireText("name", kNameRule).value_or("");
}

std::string ReadSlug(json::ObjectReader& row, const std::string& name) {
  if (auto slug = row.Text("slug", kNameRule)) return *std::move(slug);
  return Slug(name);
}

std::string ReadImages(json::ObjectReader& row) {
  std::string text;
  json::Writer writer(text);
  writer.BeginArray();
  const auto images = row.Texts("images", kImagesMax, kUrlRule);
  if (images) {
    for (const std::string& image : *images) writer.Text(image);
  }
  writer.EndArray();
  return text;
}

Draft Reader::Read(json::ObjectReader& row) {
  Draft draft;
  for (json::ObjectReader& item : row.Objects("stations", kRowsMax, true)) {
    StationDraft& station = draft.stations.emplace_back();
    station.name = ReadName(item);
    station.id = stations_.Take(item, "name", Folded(station.name));
    item.Finish();
  }
  for (json::ObjectReader& item : row.Objects("categories", kRowsMax, true)) {
    draft.categories.push_back(ReadCategory(item));
  }
  return draft;
}

CategoryDraft Reader::ReadCategory(json::ObjectReader& row) {
  CategoryDraft category;
  category.name = ReadName(row);
  category.id = categories_.Take(row, "name", Folded(category.name));
  category.slug = ReadSlug(row, category.name);
  category.description = row.Text("description", kProseRule);
  category.image_url = row.Text("image_url", kUrlRule);
  category.visible = row.Boolean("visible").value_or(true);
  for (json::ObjectReader& item : row.Objects("products", kRowsMax, true)) {
    category.products.push_back(ReadProduct(item, category.id));
  }
  row.Finish();
  return category;
}

ProductDraft Reader::ReadProduct(json::ObjectReader& row, const std::string& category_id) {
  ProductDraft product;
  product.path = row.path();
  product.name = ReadName(row);
  if (const std::string sku = SkuKey(row); !sku.empty()) {
    product.id = products_.Take(row, "", sku);
  } else {
    product.id = products_.Take(row, "name", KeyBelow(category_id, product.name));
  }
  product.slug = ReadSlug(row, product.name);
  product.description = row.Text("description", kProseRule);
  product.image_url = row.Text("image_url", kUrlRule);
  product.images = ReadImages(row);
  product.visible = row.Boolean("visible").value_or(true);
  product.stock_enabled = row.Boolean("stock_enabled").value_or(false);
  product.messages_for_customers = row.Text("messages_for_customers", kProseRule);
  product.kitchen_id = row.Uuid("kitchen_id");
  product.variants = ReadVariants(row, product.id);
  product.modifier_categories = ReadModifierCategories(row, product.id);
  row.Finish();
  return product;
}

std::vector<VariantDraft> Reader::ReadVariants(json::ObjectReader& row,
                                               const std::string& product_id) {
  constexpr std::array<std::string_view, 7> kShorthand = {
      "price", "sku", "original_price", "packaging_price", "cost", "stock", "stock_threshold"};
  std::vector<VariantDraft> variants;
  if (!row.Raw("variants")) {
    VariantDraft& only = variants.emplace_back();
    only.path = row.path();
    only.name = kOnlyVariant;
    ReadPrices(row, only);
    // The row's own id is the product's, so this one is always derived.
    only.id = variants_.Derive(KeyBelow(product_id, only.name));
    return variants;
  }
  for (const std::string_view field : kShorthand) {
    if (!row.Raw(field)) continue;
    row.Fail(field, FieldCode::kNotAllowed,
             "belongs to a product of one price; this one has variants: give it to each of them");
  }
  for (json::ObjectReader& item : row.Objects("variants", kVariantsMax, false)) {
    VariantDraft& variant = variants.emplace_back();
    variant.path = item.path();
    variant.name = ReadName(item);
    ReadPrices(item, variant);
    if (variant.sku) {
      variant.id = variants_.Take(item, "", SkuKey(item));
    } else {
      variant.id = variants_.Take(item, "name", KeyBelow(product_id, variant.name));
    }
    item.Finish();
  }
  return variants;
}

void Reader::ReadPrices(json::ObjectReader& row, VariantDraft& variant) {
  variant.sku = row.Text("sku", kSkuRule);
  skus_.Add(row, "sku", variant.sku);
  variant.price = row.RequireMoney("price", decimals_).value_or(0);
  variant.original_price = row.Money("original_price", decimals_);
  variant.packaging_price = row.Money("packaging_price", decimals_).value_or(0);
  variant.cost = row.Money("cost", decimals_);
  variant.stock = row.Number("stock", {.decimals = 3, .min = 0, .max = kStockMax});
  variant.stock_threshold =
      row.Number("stock_threshold", {.decimals = 3, .min = 0, .max = kStockMax});
}

std::vector<ModifierCategoryDraft> Reader::ReadModifierCategories(json::ObjectReader& row,
                                                                  const std::string& product_id) {
  std::vector<ModifierCategoryDraft> categories;
  for (json::ObjectReader& item :
       row.Objects("modifier_categories", kModifierCategoriesMax, true)) {
    categories.push_back(ReadModifierCategory(item, product_id));
  }
  return categories;
}

ModifierCategoryDraft Reader::ReadModifierCategory(json::ObjectReader& row,
                                                   const std::string& product_id) {
  const json::NumberRule count = {.decimals = 0, .min = 0, .max = kModifierCountMax};
  ModifierCategoryDraft category;
  category.name = ReadName(row);
  category.id = modifier_categories_.Take(row, "name", KeyBelow(product_id, category.name));
  const bool one = row.OneOf("type", {"one", "many"}).value_or(1) == 0;
  category.type = one ? "one" : "many";
  category.required = row.Boolean("required").value_or(false);
  category.min_modifiers = row.Number("min_modifiers", count).value_or(category.required ? 1 : 0);
  category.max_modifiers = row.Number("max_modifiers", count);
  if (one && !category.max_modifiers) category.max_modifiers = 1;
  if (category.max_modifiers && *category.max_modifiers < category.min_modifiers) {
    row.Fail("max_modifiers", FieldCode::kOutOfRange,
             "must not be below min_modifiers, which is " + std::to_string(category.min_modifiers));
  }
  category.is_active = row.Boolean("is_active").value_or(true);
  category.modifiers = ReadModifiers(row, category.id);
  row.Finish();
  return category;
}

std::vector<ModifierDraft> Reader::ReadModifiers(json::ObjectReader& row,
                                                 const std::string& category_id) {
  std::vector<ModifierDraft> modifiers;
  for (json::ObjectReader& item : row.Objects("modifiers", kModifiersMax, true)) {
    ModifierDraft& modifier = modifiers.emplace_back();
    modifier.name = ReadName(item);
    modifier.id = modifiers_.Take(item, "name", KeyBelow(category_id, modifier.name));
    modifier.sku = item.Text("sku", kSkuRule);
    modifier.price = item.Money("price", decimals_).value_or(0);
    modifier.original_price = item.Money("original_price", decimals_);
    modifier.max_limit =
        item.Number("max_limit", {.decimals = 0, .min = 1, .max = kModifierCountMax});
    modifier.visible = item.Boolean("visible").value_or(true);
    item.Finish();
  }
  return modifiers;
}

// -- writing --------------------------------------------------------------------------------------

template <typename Visit>
void ForEachProduct(const Draft& draft, Visit visit) {
  for (const CategoryDraft& category : draft.categories) {
    for (const ProductDraft& product : category.products) visit(product);
  }
}

void RefuseTakenSkus(db::Tx& tx, db::CompanyId company, const Draft& draft) {
  ForEachProduct(draft, [&](const ProductDraft& product) {
    for (const VariantDraft& variant : product.variants) FreeOtherSku(tx, company, variant);
  });
  json::Errors errors;
  size_t order = 0;
  ForEachProduct(draft, [&](const ProductDraft& product) {
    for (const VariantDraft& variant : product.variants) {
      if (!variant.sku) continue;
      const auto holder = SkuHolder(tx, company, *variant.sku);
      if (!holder || *holder == variant.id) continue;
      errors.Add(variant.path + ".sku", FieldCode::kSkuTaken,
                 "belongs to the stored variant " + *holder, order++);
    }
  });
  errors.ThrowIfAny();
}

void RefuseUnknownStations(db::Tx& tx, db::CompanyId company, const Draft& draft) {
  json::Errors errors;
  size_t order = 0;
  ForEachProduct(draft, [&](const ProductDraft& product) {
    if (!product.kitchen_id || HasStation(tx, company, *product.kitchen_id)) return;
    errors.Add(product.path + ".kitchen_id", FieldCode::kNotFound,
               "must be the id of one of the company's stations", order++);
  });
  errors.ThrowIfAny();
}

// True where something was written.
bool Count(Tally& tally, Outcome outcome) {
  tally.Count(outcome);
  return outcome != Outcome::kUnchanged;
}

bool ImportVariants(db::Tx& tx, db::CompanyId company, const ProductDraft& product, Tally& tally) {
  bool changed = false;
  int position = 0;
  for (const VariantDraft& variant : product.variants) {
    changed |= Count(tally, Upsert(tx, company, variant, product.id, position++));
  }
  return changed;
}

bool ImportModifiers(db::Tx& tx, db::CompanyId company, const ProductDraft& product,
                     Imported& imported) {
  bool changed = false;
  int position = 0;
  for (const ModifierCategoryDraft& category : product.modifier_categories) {
    changed |=
        Count(imported.modifier_categories, Upsert(tx, company, category, product.id, position++));
    int modifier_position = 0;
    for (const ModifierDraft& modifier : category.modifiers) {
      changed |= Count(imported.modifiers,
                       Upsert(tx, company, modifier, category.id, product.id, modifier_position++));
    }
  }
  return changed;
}

void ImportProduct(db::Tx& tx, db::CompanyId company, const ProductDraft& product,
                   std::string_view category_id, int position, const db::Stamp& stamp,
                   Imported& imported) {
  Outcome outcome = Upsert(tx, company, product, category_id, position, stamp);
  const bool variants_changed = ImportVariants(tx, company, product, imported.variants);
  const bool modifiers_changed = ImportModifiers(tx, company, product, imported);
  if (outcome == Outcome::kUnchanged && (variants_changed || modifiers_changed)) {
    Touch(tx, company, product.id, stamp);
    outcome = Outcome::kUpdated;
  }
  imported.products.Count(outcome);
}

}  // namespace

Draft ReadDraft(json::ObjectReader& row, const company::Company& company) {
  return Reader(company).Read(row);
}

Imported Import(db::Tx& tx, db::CompanyId company, const Draft& draft, const db::Stamp& stamp) {
  Imported imported;
  for (const StationDraft& station : draft.stations) {
    imported.stations.Count(Upsert(tx, company, station));
  }
  RefuseUnknownStations(tx, company, draft);
  RefuseTakenSkus(tx, company, draft);
  int category_position = 0;
  for (const CategoryDraft& category : draft.categories) {
    imported.categories.Count(Upsert(tx, company, category, category_position++));
    int position = 0;
    for (const ProductDraft& product : category.products) {
      ImportProduct(tx, company, product, category.id, position++, stamp, imported);
    }
  }
  return imported;
}

}  // namespace comanda::menu
