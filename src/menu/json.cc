#include "menu/json.h"

#include <string_view>
#include <unordered_set>
#include <utility>

#include "menu/limits.h"

namespace comanda::menu {
namespace {

using json::ObjectReader;

constexpr json::NumberRule kPositionRule = {.decimals = 0, .min = 0, .max = kPositionMax};
constexpr json::NumberRule kCountRule = {.decimals = 0, .min = 0, .max = kModifierCountMax};
constexpr json::NumberRule kLimitRule = {.decimals = 0, .min = 1, .max = kModifierCountMax};

// -- reading --------------------------------------------------------------------------------------

// What the rows of a body are for.
enum class Purpose : uint8_t {
  kNew,     // what a new row needs must be there
  kChange,  // null clears what can be empty
  kUpsert,  // what is missing may be stored already
};

class PatchReader {
 public:
  PatchReader(int decimals, Purpose purpose) : decimals_(decimals), purpose_(purpose) {}

  ProductPatch ReadProduct(ObjectReader& row);
  VariantPatch ReadVariant(ObjectReader& row);

 private:
  void ReadVariants(ObjectReader& row, ProductPatch& product);
  void ReadPrices(ObjectReader& row, VariantPatch& variant);
  ModifierCategoryPatch ReadModifierCategory(ObjectReader& row);
  ModifierPatch ReadModifier(ObjectReader& row);
  std::optional<std::string> ReadImages(ObjectReader& row) const;

  // Names and prices that a new row must have.
  std::optional<std::string> Name(ObjectReader& row) const {
    return purpose_ == Purpose::kNew ? row.RequireText("name", kNameRule)
                                     : row.Text("name", kNameRule);
  }
  template <typename T>
  Setting<T> Clearable(ObjectReader& row, std::string_view name, std::optional<T> value) const {
    if (value) return Setting<T>(std::in_place, std::move(value));
    if (purpose_ != Purpose::kChange || !row.IsNull(name)) return std::nullopt;
    return Setting<T>(std::in_place, std::nullopt);
  }
  Setting<std::string> Text(ObjectReader& row, std::string_view name, json::TextRule rule) const {
    return Clearable(row, name, row.Text(name, rule));
  }
  Setting<int64_t> Number(ObjectReader& row, std::string_view name, json::NumberRule rule) const {
    return Clearable(row, name, row.Number(name, rule));
  }
  Setting<Minor> Money(ObjectReader& row, std::string_view name) const {
    return Clearable(row, name, row.Money(name, decimals_));
  }

  int decimals_;
  Purpose purpose_;
  std::unordered_set<std::string> skus_;  // of the call
};

void RefuseDerived(ObjectReader& row) {
  row.Refuse("available", FieldCode::kReadOnly,
             "follows from visible and the stock: send visible, or stock with stock_enabled");
  row.Refuse("currency", FieldCode::kReadOnly,
             "comes from the company that owns the key; leave it out");
}

ProductPatch PatchReader::ReadProduct(ObjectReader& row) {
  ProductPatch product;
  product.place = {row.path(), row.offset()};
  if (purpose_ == Purpose::kUpsert) {
    product.id = row.Uuid("id");
  } else {
    row.Refuse("id", FieldCode::kReadOnly,
               "is made by the server; bring your own with PUT /v1/menu/products");
  }
  product.name = Name(row);
  product.slug = row.Text("slug", kNameRule);
  product.category_id = row.Uuid("category_id");
  product.category_name = row.Text("category_name", kNameRule);
  if (purpose_ == Purpose::kNew && !row.Raw("category_id") && !row.Raw("category_name")) {
    row.Fail("category_id", FieldCode::kRequired,
             "or category_name is required: the id of a category of GET /v1/menu, or the name of "
             "one, which is made where it is missing");
  }
  product.description = Text(row, "description", kProseRule);
  product.image_url = Text(row, "image_url", kUrlRule);
  product.images = ReadImages(row);
  product.position = row.Number("position", kPositionRule);
  product.visible = row.Boolean("visible");
  product.stock_enabled = row.Boolean("stock_enabled");
  product.messages_for_customers = Text(row, "messages_for_customers", kProseRule);
  product.kitchen_id = Clearable(row, "kitchen_id", row.Uuid("kitchen_id"));
  ReadVariants(row, product);
  for (ObjectReader& item : row.Objects("modifier_categories", kModifierCategoriesMax, true)) {
    product.modifier_categories.push_back(ReadModifierCategory(item));
  }
  RefuseDerived(row);
  row.Ignore({"created_at", "updated_at"});  // of a record that is sent back
  row.Finish();
  return product;
}

std::optional<std::string> PatchReader::ReadImages(ObjectReader& row) const {
  const bool cleared = purpose_ == Purpose::kChange && row.IsNull("images");
  const auto images = row.Texts("images", kImagesMax, kUrlRule);
  if (!images && !cleared) return std::nullopt;
  std::string text;
  json::Writer writer(text);
  writer.BeginArray();
  if (images) {
    for (const std::string& image : *images) writer.Text(image);
  }
  writer.EndArray();
  return text;
}

void PatchReader::ReadVariants(ObjectReader& row, ProductPatch& product) {
  if (purpose_ == Purpose::kChange) {
    constexpr std::string_view kElsewhere =
        "belongs to a variant: change it with PATCH /v1/menu/products/{id}/variants/{variantId}, "
        "add one with POST /v1/menu/products/{id}/variants";
    row.Refuse("variants", FieldCode::kNotAllowed, kElsewhere);
    for (const std::string_view field : kShorthand) {
      row.Refuse(field, FieldCode::kNotAllowed, kElsewhere);
    }
    return;
  }
  if (row.Raw("variants")) {
    for (const std::string_view field : kShorthand) {
      if (!row.Raw(field)) continue;
      row.Fail(field, FieldCode::kNotAllowed,
               "is for a product of one price; this one has variants: give it to each of them");
    }
    for (ObjectReader& item : row.Objects("variants", kVariantsMax, false)) {
      product.variants.push_back(ReadVariant(item));
    }
    return;
  }
  bool any = purpose_ == Purpose::kNew;
  for (const std::string_view field : kShorthand) any |= row.Raw(field).has_value();
  if (!any) return;
  VariantPatch& only = product.variants.emplace_back();
  only.place = product.place;
  only.only = true;
  ReadPrices(row, only);
}

VariantPatch PatchReader::ReadVariant(ObjectReader& row) {
  VariantPatch variant;
  variant.place = {row.path(), row.offset()};
  if (row.path().empty()) {
    row.Refuse("id", FieldCode::kReadOnly,
               "is made by the server; bring your own with PUT /v1/menu/products");
    row.Refuse("product_id", FieldCode::kReadOnly, "stands in the path: leave it out");
  } else {
    variant.id = row.Uuid("id");
    row.Ignore({"product_id"});
  }
  variant.name = Name(row);
  ReadPrices(row, variant);
  variant.position = row.Number("position", kPositionRule);
  RefuseDerived(row);
  row.Finish();
  return variant;
}

void PatchReader::ReadPrices(ObjectReader& row, VariantPatch& variant) {
  variant.sku = Text(row, "sku", kSkuRule);
  if (variant.sku && *variant.sku && !skus_.insert(**variant.sku).second) {
    row.Fail("sku", FieldCode::kDuplicate,
             "stands in another row of this call already: a sku is one variant's");
  }
  variant.price = purpose_ == Purpose::kNew ? row.RequireMoney("price", decimals_)
                                            : row.Money("price", decimals_);
  variant.original_price = Money(row, "original_price");
  variant.packaging_price = row.Money("packaging_price", decimals_);
  variant.cost = Money(row, "cost");
  variant.stock = Number(row, "stock", kStockRule);
  variant.stock_threshold = Number(row, "stock_threshold", kStockRule);
}

ModifierCategoryPatch PatchReader::ReadModifierCategory(ObjectReader& row) {
  ModifierCategoryPatch category;
  category.place = {row.path(), row.offset()};
  category.id = row.Uuid("id");
  category.name = Name(row);
  if (const auto type = row.OneOf("type", {"one", "many"})) {
    category.type = *type == 0 ? "one" : "many";
  }
  category.required = row.Boolean("required");
  category.min_modifiers = row.Number("min_modifiers", kCountRule);
  category.max_modifiers = Number(row, "max_modifiers", kCountRule);
  category.is_active = row.Boolean("is_active");
  category.position = row.Number("position", kPositionRule);
  for (ObjectReader& item : row.Objects("modifiers", kModifiersMax, true)) {
    category.modifiers.push_back(ReadModifier(item));
  }
  row.Finish();
  return category;
}

ModifierPatch PatchReader::ReadModifier(ObjectReader& row) {
  ModifierPatch modifier;
  modifier.place = {row.path(), row.offset()};
  modifier.id = row.Uuid("id");
  modifier.name = Name(row);
  modifier.sku = Text(row, "sku", kSkuRule);
  modifier.price = row.Money("price", decimals_);
  modifier.original_price = Money(row, "original_price");
  modifier.max_limit = Number(row, "max_limit", kLimitRule);
  modifier.visible = row.Boolean("visible");
  modifier.position = row.Number("position", kPositionRule);
  row.Finish();
  return modifier;
}

ObjectReader BodyReader(const Body& body, json::Errors& errors) {
  return ObjectReader(body.document.root(), "", errors, body.unknown);
}

void RefuseNothing(const ObjectReader& row, json::Errors& errors) {
  if (!row.NothingRead()) return;
  errors.Add("body", FieldCode::kEmpty, "changes nothing: send at least one field");
}

}  // namespace

ProductPatch ReadNewProduct(const Body& body, int decimals, json::Errors& errors) {
  ObjectReader row = BodyReader(body, errors);
  return PatchReader(decimals, Purpose::kNew).ReadProduct(row);
}

ProductPatch ReadProductChange(const Body& body, int decimals, json::Errors& errors) {
  ObjectReader row = BodyReader(body, errors);
  ProductPatch product = PatchReader(decimals, Purpose::kChange).ReadProduct(row);
  RefuseNothing(row, errors);
  return product;
}

VariantPatch ReadNewVariant(const Body& body, int decimals, json::Errors& errors) {
  ObjectReader row = BodyReader(body, errors);
  return PatchReader(decimals, Purpose::kNew).ReadVariant(row);
}

VariantPatch ReadVariantChange(const Body& body, int decimals, json::Errors& errors) {
  ObjectReader row = BodyReader(body, errors);
  VariantPatch variant = PatchReader(decimals, Purpose::kChange).ReadVariant(row);
  RefuseNothing(row, errors);
  return variant;
}

std::vector<ProductPatch> ReadUpsert(const Body& body, int decimals, json::Errors& errors) {
  ObjectReader row = BodyReader(body, errors);
  std::vector<ProductPatch> products;
  const std::optional<json::Value> sent = row.Raw("products");
  std::vector<json::Value> sent_rows;
  if (sent && sent->kind() == json::Kind::kArray) sent_rows = sent->items();
  if (sent_rows.size() > kUpsertMax) {
    row.Fail("products", FieldCode::kTooManyProducts,
             "must have at most " + std::to_string(kUpsertMax) + " items, not " +
                 std::to_string(sent_rows.size()) + ": send the rest in another call");
    return products;
  }
  PatchReader reader(decimals, Purpose::kUpsert);
  for (ObjectReader& item : row.RequireObjects("products", kUpsertMax)) {
    const size_t before = errors.size();
    ProductPatch product = reader.ReadProduct(item);
    const bool is_object = sent_rows[products.size()].kind() == json::Kind::kObject;
    product.wrong = !is_object || errors.size() > before;
    products.push_back(std::move(product));
  }
  row.Finish();
  return products;
}

// -- records --------------------------------------------------------------------------------------

void WriteFields(json::Writer& out, const Category& category) {
  out.Key("id").Text(category.id);
  out.Key("name").Text(category.name);
  out.Key("slug").Text(category.slug);
  out.Key("description").Text(category.description);
  out.Key("image_url").Text(category.image_url);
  out.Key("position").Integer(category.position);
  out.Key("visible").Boolean(category.visible);
}

void Renderer::Write(json::Writer& out, const Product& product) const {
  out.BeginObject();
  out.Key("id").Text(product.id);
  out.Key("category_id").Text(product.category_id);
  out.Key("name").Text(product.name);
  out.Key("slug").Text(product.slug);
  out.Key("description").Text(product.description);
  out.Key("image_url").Text(product.image_url);
  out.Key("images").Raw(product.images);
  out.Key("position").Integer(product.position);
  out.Key("visible").Boolean(product.visible);
  out.Key("available").Boolean(IsAvailable(product));
  out.Key("stock_enabled").Boolean(product.stock_enabled);
  out.Key("messages_for_customers").Text(product.messages_for_customers);
  out.Key("kitchen_id").Text(product.kitchen_id);
  out.Key("currency").Text(currency_);
  out.Key("variants").BeginArray();
  for (const Variant& variant : product.variants) Write(out, product, variant);
  out.EndArray().Key("modifier_categories").BeginArray();
  for (const ModifierCategory& category : product.modifier_categories) Write(out, category);
  out.EndArray();
  out.Key("created_at").Instant(product.created_at);
  out.Key("updated_at").Instant(product.updated_at);
  out.EndObject();
}

std::string Renderer::Tail(const Variant& variant) const {
  std::string text;
  json::AppendQuoted(text, currency_);
  if (costs_ == Costs::kHidden) return text;
  if (costs_ == Costs::kMarked) text += kCostMark;
  text += ",\"cost\":";
  json::Writer(text).Scaled(variant.cost, decimals_);
  if (costs_ == Costs::kMarked) text += kCostMark;
  return text;
}

void Renderer::Write(json::Writer& out, const Product& product, const Variant& variant) const {
  out.BeginObject();
  out.Key("id").Text(variant.id);
  out.Key("product_id").Text(product.id);
  out.Key("name").Text(variant.name);
  out.Key("sku").Text(variant.sku);
  out.Key("price").Scaled(variant.price, decimals_);
  out.Key("original_price").Scaled(variant.original_price, decimals_);
  out.Key("packaging_price").Scaled(variant.packaging_price, decimals_);
  if (costs_ == Costs::kMarked && variant.stock) {
    out.Key("stock").Raw(std::string_view(&kStockMark, 1));
  } else {
    out.Key("stock").Scaled(variant.stock, kStockDecimals);
  }
  out.Key("stock_threshold").Scaled(variant.stock_threshold, kStockDecimals);
  out.Key("position").Integer(variant.position);
  out.Key("available").Boolean(IsAvailable(product, variant));
  out.Key("currency").Raw(Tail(variant));
  out.EndObject();
}

void Renderer::Write(json::Writer& out, const ModifierCategory& category) const {
  out.BeginObject();
  out.Key("id").Text(category.id);
  out.Key("name").Text(category.name);
  out.Key("type").Text(category.type);
  out.Key("required").Boolean(category.required);
  out.Key("min_modifiers").Integer(category.min_modifiers);
  out.Key("max_modifiers").Integer(category.max_modifiers);
  out.Key("is_active").Boolean(category.is_active);
  out.Key("position").Integer(category.position);
  out.Key("modifiers").BeginArray();
  for (const Modifier& modifier : category.modifiers) Write(out, modifier);
  out.EndArray().EndObject();
}

void Renderer::Write(json::Writer& out, const Modifier& modifier) const {
  out.BeginObject();
  out.Key("id").Text(modifier.id);
  out.Key("name").Text(modifier.name);
  out.Key("sku").Text(modifier.sku);
  out.Key("price").Scaled(modifier.price, decimals_);
  out.Key("original_price").Scaled(modifier.original_price, decimals_);
  out.Key("max_limit").Integer(modifier.max_limit);
  out.Key("visible").Boolean(modifier.visible);
  out.Key("position").Integer(modifier.position);
  out.EndObject();
}

}  // namespace comanda::menu
