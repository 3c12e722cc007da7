#include "menu/import.h"

#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "company/import_row.h"
#include "json/writer.h"
#include "menu/limits.h"
#include "menu/slug.h"
#include "menu/store.h"

namespace comanda::menu {
namespace {

using company::Distinct;
using company::kRowsMax;
using company::Outcome;
using company::RowIds;
using company::Tally;

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
  Category ReadCategory(json::ObjectReader& row);
  Product ReadProduct(json::ObjectReader& row, const std::string& category_id);
  std::vector<Variant> ReadVariants(json::ObjectReader& row, const std::string& product_id);
  void ReadPrices(json::ObjectReader& row, Variant& variant);
  std::vector<ModifierCategory> ReadModifierCategories(json::ObjectReader& row,
                                                       const std::string& product_id);
  ModifierCategory ReadModifierCategory(json::ObjectReader& row, const std::string& product_id);
  std::vector<Modifier> ReadModifiers(json::ObjectReader& row, const std::string& category_id);

  Draft draft_;
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
  for (json::ObjectReader& item : row.Objects("stations", kRowsMax, true)) {
    Station& station = draft_.stations.emplace_back();
    station.name = ReadName(item);
    station.id = stations_.Take(item, "name", Folded(station.name));
    item.Finish();
  }
  for (json::ObjectReader& item : row.Objects("categories", kRowsMax, true)) {
    Category& category = draft_.categories.emplace_back(ReadCategory(item));
    category.position = static_cast<int64_t>(draft_.categories.size()) - 1;
  }
  return std::move(draft_);
}

Category Reader::ReadCategory(json::ObjectReader& row) {
  Category category;
  category.name = ReadName(row);
  category.id = categories_.Take(row, "name", Folded(category.name));
  category.slug = ReadSlug(row, category.name);
  category.description = row.Text("description", kProseRule);
  category.image_url = row.Text("image_url", kUrlRule);
  category.visible = row.Boolean("visible").value_or(true);
  for (json::ObjectReader& item : row.Objects("products", kRowsMax, true)) {
    Product& product = category.products.emplace_back(ReadProduct(item, category.id));
    product.position = static_cast<int64_t>(category.products.size()) - 1;
  }
  row.Finish();
  return category;
}

Product Reader::ReadProduct(json::ObjectReader& row, const std::string& category_id) {
  Product product;
  product.category_id = category_id;
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
  if (product.kitchen_id) {
    draft_.kitchens.push_back({row.FieldPath("kitchen_id"), *product.kitchen_id});
  }
  product.variants = ReadVariants(row, product.id);
  product.modifier_categories = ReadModifierCategories(row, product.id);
  row.Finish();
  return product;
}

std::vector<Variant> Reader::ReadVariants(json::ObjectReader& row, const std::string& product_id) {
  std::vector<Variant> variants;
  if (!row.Raw("variants")) {
    Variant& only = variants.emplace_back();
    only.name = kOnlyVariant;
    ReadPrices(row, only);
    // The row's own id is the product's, so this one is always derived.
    only.id = variants_.Derive(KeyBelow(product_id, only.name));
    draft_.skus.push_back({row.FieldPath("sku"), only.id, only.sku});
    return variants;
  }
  for (const std::string_view field : kShorthand) {
    if (!row.Raw(field)) continue;
    row.Fail(field, FieldCode::kNotAllowed,
             "belongs to a product of one price; this one has variants: give it to each of them");
  }
  for (json::ObjectReader& item : row.Objects("variants", kVariantsMax, false)) {
    Variant& variant = variants.emplace_back();
    variant.name = ReadName(item);
    ReadPrices(item, variant);
    if (variant.sku) {
      variant.id = variants_.Take(item, "", SkuKey(item));
    } else {
      variant.id = variants_.Take(item, "name", KeyBelow(product_id, variant.name));
    }
    variant.position = static_cast<int64_t>(variants.size()) - 1;
    draft_.skus.push_back({item.FieldPath("sku"), variant.id, variant.sku});
    item.Finish();
  }
  return variants;
}

void Reader::ReadPrices(json::ObjectReader& row, Variant& variant) {
  variant.sku = row.Text("sku", kSkuRule);
  skus_.Add(row, "sku", variant.sku);
  variant.price = row.RequireMoney("price", decimals_).value_or(0);
  variant.original_price = row.Money("original_price", decimals_);
  variant.packaging_price = row.Money("packaging_price", decimals_).value_or(0);
  variant.cost = row.Money("cost", decimals_);
  variant.stock = row.Number("stock", kStockRule);
  variant.stock_threshold = row.Number("stock_threshold", kStockRule);
}

std::vector<ModifierCategory> Reader::ReadModifierCategories(json::ObjectReader& row,
                                                             const std::string& product_id) {
  std::vector<ModifierCategory> categories;
  for (json::ObjectReader& item :
       row.Objects("modifier_categories", kModifierCategoriesMax, true)) {
    ModifierCategory& category = categories.emplace_back(ReadModifierCategory(item, product_id));
    category.position = static_cast<int64_t>(categories.size()) - 1;
  }
  return categories;
}

ModifierCategory Reader::ReadModifierCategory(json::ObjectReader& row,
                                              const std::string& product_id) {
  const json::NumberRule count = {.decimals = 0, .min = 0, .max = kModifierCountMax};
  ModifierCategory category;
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

std::vector<Modifier> Reader::ReadModifiers(json::ObjectReader& row,
                                            const std::string& category_id) {
  std::vector<Modifier> modifiers;
  for (json::ObjectReader& item : row.Objects("modifiers", kModifiersMax, true)) {
    Modifier& modifier = modifiers.emplace_back();
    modifier.name = ReadName(item);
    modifier.id = modifiers_.Take(item, "name", KeyBelow(category_id, modifier.name));
    modifier.sku = item.Text("sku", kSkuRule);
    modifier.price = item.Money("price", decimals_).value_or(0);
    modifier.original_price = item.Money("original_price", decimals_);
    modifier.max_limit =
        item.Number("max_limit", {.decimals = 0, .min = 1, .max = kModifierCountMax});
    modifier.visible = item.Boolean("visible").value_or(true);
    modifier.position = static_cast<int64_t>(modifiers.size()) - 1;
    item.Finish();
  }
  return modifiers;
}

// -- writing --------------------------------------------------------------------------------------

void RefuseTakenSkus(db::Tx& tx, db::CompanyId company, const Draft& draft) {
  for (const SkuUse& use : draft.skus) FreeOtherSku(tx, company, use.variant_id, use.sku);
  json::Errors errors;
  for (const SkuUse& use : draft.skus) {
    if (!use.sku) continue;
    const auto holder = SkuHolder(tx, company, *use.sku);
    if (!holder || holder->variant_id == use.variant_id) continue;
    errors.Add(use.path, FieldCode::kSkuTaken,
               "belongs to the stored variant " + holder->variant_id);
  }
  errors.ThrowIfAny();
}

void RefuseUnknownStations(db::Tx& tx, db::CompanyId company, const Draft& draft) {
  json::Errors errors;
  for (const KitchenUse& use : draft.kitchens) {
    if (HasStation(tx, company, use.kitchen_id)) continue;
    errors.Add(use.path, FieldCode::kNotFound, "must be the id of one of the company's stations");
  }
  errors.ThrowIfAny();
}

// True where something was written.
bool Count(Tally& tally, Outcome outcome) {
  tally.Count(outcome);
  return outcome != Outcome::kUnchanged;
}

// A row that the file has below another product than before is missing in that one's record.
void NoteMove(db::Tx& tx, db::CompanyId company, const std::optional<std::string>& from,
              const Product& to, const db::Stamp& stamp, Imported& imported) {
  if (!from || *from == to.id) return;
  Touch(tx, company, *from, stamp);
  imported.updated_products.insert(*from);
}

// Sets the count that the file has, where that changes nothing else of the product (contract
// section 9); true where it moved. What makes a variant available or not is left to the upsert.
bool MoveStock(db::Tx& tx, db::CompanyId company, const Variant& variant) {
  const std::optional<Counted> stored = SelectCounted(tx, company, variant.id);
  if (!stored || !variant.stock || *variant.stock == stored->stock) return false;
  const bool runs_out_or_returns = (*variant.stock > 0) != (stored->stock > 0);
  if (stored->stock_enabled && stored->visible && runs_out_or_returns) return false;
  SetStock(tx, company, variant.id, *variant.stock);
  return true;
}

bool ImportVariants(db::Tx& tx, db::CompanyId company, const Product& product,
                    const db::Stamp& stamp, Imported& imported) {
  Tally& tally = imported.variants;
  bool changed = false;
  for (const Variant& variant : product.variants) {
    NoteMove(tx, company, ProductOfVariant(tx, company, variant.id), product, stamp, imported);
    const bool stock_moved = MoveStock(tx, company, variant);
    const Outcome outcome = Upsert(tx, company, variant, product.id);
    changed |= outcome != Outcome::kUnchanged;
    tally.Count(stock_moved && outcome == Outcome::kUnchanged ? Outcome::kUpdated : outcome);
  }
  return changed;
}

bool ImportModifiers(db::Tx& tx, db::CompanyId company, const Product& product,
                     const db::Stamp& stamp, Imported& imported) {
  bool changed = false;
  for (const ModifierCategory& category : product.modifier_categories) {
    NoteMove(tx, company, ProductOfModifierCategory(tx, company, category.id), product, stamp,
             imported);
    changed |= Count(imported.modifier_categories, Upsert(tx, company, category, product.id));
    for (const Modifier& modifier : category.modifiers) {
      NoteMove(tx, company, ProductOfModifier(tx, company, modifier.id), product, stamp, imported);
      changed |= Count(imported.modifiers, Upsert(tx, company, modifier, category.id, product.id));
    }
  }
  return changed;
}

void ImportProduct(db::Tx& tx, db::CompanyId company, const Product& product,
                   const db::Stamp& stamp, Imported& imported) {
  Outcome outcome = Upsert(tx, company, product, stamp);
  const bool variants_changed = ImportVariants(tx, company, product, stamp, imported);
  const bool modifiers_changed = ImportModifiers(tx, company, product, stamp, imported);
  if (outcome == Outcome::kUnchanged && (variants_changed || modifiers_changed)) {
    Touch(tx, company, product.id, stamp);
    outcome = Outcome::kUpdated;
  }
  imported.products.Count(outcome);
  if (outcome == Outcome::kInserted) imported.created_products.insert(product.id);
  if (outcome == Outcome::kUpdated) imported.updated_products.insert(product.id);
}

}  // namespace

Draft ReadDraft(json::ObjectReader& row, const company::Company& company) {
  return Reader(company).Read(row);
}

Imported Import(db::Tx& tx, db::CompanyId company, const Draft& draft, const db::Stamp& stamp) {
  Imported imported;
  for (const Station& station : draft.stations) {
    imported.stations.Count(Upsert(tx, company, station));
  }
  RefuseUnknownStations(tx, company, draft);
  RefuseTakenSkus(tx, company, draft);
  for (const Category& category : draft.categories) {
    imported.categories.Count(Upsert(tx, company, category));
    for (const Product& product : category.products) {
      ImportProduct(tx, company, product, stamp, imported);
    }
  }
  return imported;
}

}  // namespace comanda::menu
