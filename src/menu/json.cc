#include "menu/json.h"

#include <string_view>
#include <type_traits>
#include <utility>

#include "base/id.h"
#include "base/text.h"
#include "company/import_row.h"
#include "menu/fields.h"
#include "menu/slug.h"

namespace comanda::menu {
namespace {

using company::kProseRule;
using company::kUrlRule;
using json::ObjectReader;

constexpr size_t kImagesMax = 50;  // of one product
// For min_modifiers, max_modifiers and max_limit.
constexpr int64_t kModifierCountMax = 1'000;
// 10^9 units, in thousandths.
constexpr int64_t kStockMax = 1'000'000'000'000;
constexpr json::TextRule kNameRule = {.max = 200, .is_name = true, .can_be_null = false};
constexpr json::TextRule kSlugRule = {.max = 200, .is_name = true};
constexpr json::TextRule kSkuRule = {.max = 100, .card_numbers_refused = false, .is_code = true};
constexpr json::NumberRule kStockRule = {.decimals = kStockDecimals, .min = 0, .max = kStockMax};
constexpr json::NumberRule kPositionRule = {.decimals = 0, .min = 0, .max = 1'000'000};
constexpr json::NumberRule kCountRule = {.decimals = 0, .min = 0, .max = kModifierCountMax};
constexpr json::NumberRule kLimitRule = {.decimals = 0, .min = 1, .max = kModifierCountMax};

// The fields of a variant that a product with a single price may have itself.
constexpr std::string_view kShorthand[] = {"price", "sku",   "original_price", "packaging_price",
                                           "cost",  "stock", "stock_threshold"};

// The natural key of a row without an id: its sku, else its name within its parent. Empty if
// neither is valid.
std::string NaturalKey(const std::string& parent_id, const std::string& name,
                       const std::optional<std::string>& sku) {
  if (sku) return "sku:" + *sku;
  if (name.empty()) return "";
  return parent_id.empty() ? Folded(name) : parent_id + ":" + Folded(name);
}

class DraftReader {
 public:
  DraftReader(const Form& form, const company::Company& company, UtcMs now)
      : form_(form),
        currency_(company.currency),
        decimals_(company.currency_decimals),
        now_(now),
        stations_(company.id, "station"),
        categories_(company.id, "category"),
        products_(company.id, "product"),
        variants_(company.id, "variant"),
        modifier_categories_(company.id, "modifier_category"),
        modifiers_(company.id, "modifier") {}

  Station ReadStation(ObjectReader& json);
  // Appends the category's products to `products`.
  Category ReadCategory(ObjectReader& json, std::vector<Product>& products);
  // Appends the valid products. Invalid ones are left out, so that the others can be checked
  // further.
  void ReadProducts(std::vector<ObjectReader> rows, const std::string& category_id,
                    std::vector<Product>& products);
  // `category_id` is the enclosing category of a file.
  Product ReadProduct(ObjectReader& json, const std::string& category_id = "");
  // The row itself, with its default where nothing was read.
  static void ReadFields(ObjectReader& json, Category& category);
  Variant ReadVariant(ObjectReader& json, const std::string& product_id);
  // The rows of a list.
  template <typename Row, typename Read>
  std::vector<Row> ReadList(ObjectReader& json, std::string_view name, size_t max, bool allow_empty,
                            Read read);

 private:
  bool HasShorthand(ObjectReader& json) const;
  Variant ReadShorthand(ObjectReader& json);
  void ReadVariants(ObjectReader& json, Product& product);
  void ReadPrices(ObjectReader& json, Variant& variant);
  // Clients may send back the record that GET gave (contract section 9). Computed fields are
  // ignored, but the currency must be the company's.
  void CheckRecordSentBack(ObjectReader& json) const;
  void ReadCategoryOf(ObjectReader& json, Product& product);
  void ReadStationOf(ObjectReader& json, Product& product);
  void ReadImages(ObjectReader& json, Product& product);
  void ReadType(ObjectReader& json, ModifierCategory& category);
  ModifierCategory ReadModifierCategory(ObjectReader& json, const std::string& product_id);
  Modifier ReadModifier(ObjectReader& json, const std::string& category_id);

  // A row with its path and offset, its name and, if sent, its position.
  template <typename Row>
  Row Start(ObjectReader& json);
  // Sets the id that was sent; else, in a file, one derived from the natural key, and in a request
  // a new one. Adds an error for an id or key that occurs twice.
  template <typename Row>
  void TakeId(ObjectReader& json, company::RowIds& ids, const std::string& parent_id,
              const std::optional<std::string>& sku, Row& row);
  template <typename Row, typename T, typename Value>
  static void Set(Row& row, T Row::*field, Value&& value) {
    row.*field = std::forward<Value>(value);
    row.sent.fields |= BitOf(field);
  }
  // Sets the field to the value that was read; in a change, and of the cloud, to nothing if null
  // was sent.
  template <typename Row, typename T, typename Value>
  void Take(ObjectReader& json, std::string_view name, Row& row, T Row::*field,
            std::optional<Value> value) const {
    constexpr bool kCanBeEmpty = std::is_same_v<T, std::optional<Value>>;
    if (value) {
      Set(row, field, *std::move(value));
    } else if (kCanBeEmpty && (form_.is_change || form_.is_of_cloud) && json.IsNull(name)) {
      Set(row, field, T());
    }
  }
  // The same of an amount or count that is that of nothing where the cloud shows null.
  template <typename Row>
  void TakeOrZero(ObjectReader& json, std::string_view name, Row& row, int64_t Row::*field,
                  std::optional<int64_t> value, int64_t nothing = 0) const {
    if (!value && form_.is_of_cloud && json.IsNull(name)) value = nothing;
    Take(json, name, row, field, value);
  }

  // In a file, a row without a position has the place that it has in its list.
  template <typename Row>
  void PlaceInList(Row& row, size_t index) const {
    if (!form_.in_file() || form_.is_of_cloud || IsSent(row, &Row::position)) return;
    Set(row, &Row::position, static_cast<int64_t>(index));
  }

  // Call last.
  template <typename Row>
  void Finish(ObjectReader& json, Row& row) {
    if (form_.is_of_cloud) return;
    for (const std::string_view name : json.UnknownNames()) row.sent.unknown.emplace_back(name);
    json.Finish();
  }

  const Form form_;
  const std::string currency_;
  const int decimals_;
  const UtcMs now_;
  company::RowIds stations_, categories_, products_, variants_, modifier_categories_, modifiers_;
};

template <typename Row>
Row DraftReader::Start(ObjectReader& json) {
  Row row;
  row.sent.path = json.path();
  row.sent.offset = json.offset();
  const bool is_passed = form_.is_of_cloud && json.IsNull("name");
  if (!is_passed) {
    Take(json, "name", row, &Row::name,
         form_.complete ? json.RequireText("name", kNameRule) : json.Text("name", kNameRule));
  }
  if constexpr (!std::is_same_v<Row, Station>) {
    Take(json, "position", row, &Row::position, json.Number("position", kPositionRule));
  }
  return row;
}

template <typename Row>
void DraftReader::TakeId(ObjectReader& json, company::RowIds& ids, const std::string& parent_id,
                         const std::optional<std::string>& sku, Row& row) {
  row.sent.has_id = json.HasValue("id");
  if (form_.is_of_cloud) {
    row.id = company::IdText(json.Raw("id"));
  } else if (form_.in_file() || row.sent.has_id) {
    row.id = ids.Take(json, sku ? "" : "name", NaturalKey(parent_id, row.name, sku));
  } else {
    row.id = NewId(now_);
  }
}

template <typename Row, typename Read>
std::vector<Row> DraftReader::ReadList(ObjectReader& json, std::string_view name, size_t max,
                                       bool allow_empty, Read read) {
  std::vector<Row> rows;
  for (ObjectReader& item : json.Objects(name, max, allow_empty)) {
    Row& row = rows.emplace_back(read(item));
    if constexpr (!std::is_same_v<Row, Station>) {
      PlaceInList(row, rows.size() - 1);
    }
  }
  return rows;
}

// True if a list was sent, of whatever kind; the cloud shows one that is one.
bool IsListed(ObjectReader& json, std::string_view name) {
  const std::optional<json::Value> value = json.Raw(name);
  return value && (!company::IsTolerated(json) || value->kind() == json::Kind::kArray);
}

// A count of the cloud that is not exact is none.
std::optional<int64_t> ShownStock(ObjectReader& json) {
  const std::optional<json::Value> value = json.Raw("stock");
  if (!value || value->kind() != json::Kind::kNumber) return std::nullopt;
  const std::optional<Decimal> decimal = ParseDecimal(value->number_text());
  return decimal ? Scaled(*decimal, kStockDecimals) : std::nullopt;
}

// Computed fields are refused in a new row.
void RefuseComputed(ObjectReader& json) {
  json.Refuse("sold_out", FieldCode::kReadOnly, "is said with PUT /v1/menu/products/{id}/sold-out");
  json.Refuse("available", FieldCode::kReadOnly,
              "follows from visible and the stock: send visible, or stock with stock_enabled");
  json.Refuse("currency", FieldCode::kReadOnly,
              "comes from the company that owns the key; leave it out");
}

// A valid id is normalised as ids are stored; any other text is returned unchanged, and will not
// match.
std::optional<std::string> ClaimedId(ObjectReader& json, std::string_view name) {
  const std::optional<json::Value> sent = json.Raw(name);
  if (!sent) return std::nullopt;
  if (sent->kind() != json::Kind::kText) return "";
  return ParseId(sent->text()).value_or("");
}

std::optional<std::string> ClaimedInstant(ObjectReader& json, std::string_view name) {
  const std::optional<json::Value> sent = json.Raw(name);
  if (!sent) return std::nullopt;
  const bool is_text = sent->kind() == json::Kind::kText;
  const std::optional<UtcMs> instant = is_text ? ParseInstant(sent->text()) : std::nullopt;
  return instant ? FormatInstant(*instant) : "";
}

void RefuseId(ObjectReader& json) {
  json.Refuse("id", FieldCode::kReadOnly,
              "is made by the server; bring your own with PUT /v1/menu/products");
}

Station DraftReader::ReadStation(ObjectReader& json) {
  Station station = Start<Station>(json);
  TakeId(json, stations_, "", std::nullopt, station);
  Finish(json, station);
  return station;
}

void DraftReader::ReadFields(ObjectReader& json, Category& category) {
  if (auto slug = json.Text("slug", kSlugRule)) category.slug = *std::move(slug);
  if (category.slug.empty()) category.slug = Slug(category.name);
  company::Take(json, "description", json.Text("description", kProseRule), category.description);
  company::Take(json, "image_url", json.Text("image_url", kUrlRule), category.image_url);
  category.visible = json.Boolean("visible").value_or(category.visible);
}

Category DraftReader::ReadCategory(ObjectReader& json, std::vector<Product>& products) {
  Category category = Start<Category>(json);
  TakeId(json, categories_, "", std::nullopt, category);
  ReadFields(json, category);
  ReadProducts(json.Objects("products", company::kRowsMax, true), category.id, products);
  Finish(json, category);
  return category;
}

void DraftReader::ReadProducts(std::vector<ObjectReader> rows, const std::string& category_id,
                               std::vector<Product>& products) {
  size_t index = 0;
  for (ObjectReader& json : rows) {
    const bool is_object = json.offset() > 0;
    const size_t errors_before = json.errors().size();
    Product product = ReadProduct(json, category_id);
    PlaceInList(product, index++);
    if (is_object && json.errors().size() == errors_before) products.push_back(std::move(product));
  }
}

Product DraftReader::ReadProduct(ObjectReader& json, const std::string& category_id) {
  Product product = Start<Product>(json);
  if (form_.in_file()) {
    if (!form_.is_of_cloud) Set(product, &Product::category_id, category_id);
  } else {
    ReadCategoryOf(json, product);
    if (form_.complete) {
      RefuseComputed(json);
      json.Ignore({"created_at", "updated_at"});
    } else {
      CheckRecordSentBack(json);
      product.sent.claimed_created_at = ClaimedInstant(json, "created_at");
      json.Ignore({"updated_at", "slug"});
    }
  }
  if (HasShorthand(json)) product.variants.push_back(ReadShorthand(json));
  if (form_.is_change) {
    product.sent.claimed_id = ClaimedId(json, "id");
  } else if (form_.top == Form::Top::kProduct) {
    RefuseId(json);
    product.id = NewId(now_);
  } else {
    TakeId(json, products_, category_id,
           product.variants.empty() ? std::nullopt : product.variants.front().sku, product);
  }
  if (form_.in_file() || form_.complete) {
    Take(json, "slug", product, &Product::slug, json.Text("slug", kSlugRule));
  }
  Take(json, "description", product, &Product::description, json.Text("description", kProseRule));
  Take(json, "image_url", product, &Product::image_url, json.Text("image_url", kUrlRule));
  ReadImages(json, product);
  Take(json, "visible", product, &Product::visible, json.Boolean("visible"));
  Take(json, "stock_enabled", product, &Product::stock_enabled, json.Boolean("stock_enabled"));
  Take(json, "messages_for_customers", product, &Product::messages_for_customers,
       json.Text("messages_for_customers", kProseRule));
  ReadStationOf(json, product);
  ReadVariants(json, product);
  if (form_.is_change) {
    json.RefuseNull({"name", "category_id", "category_name", "position", "visible", "stock_enabled",
                     "variants", "modifier_categories", "id", "currency", "created_at"});
  }
  product.sent.has_modifiers = IsListed(json, "modifier_categories");
  product.modifier_categories = ReadList<ModifierCategory>(
      json, "modifier_categories", kModifierCategoriesMax, true,
      [&](ObjectReader& row) { return ReadModifierCategory(row, product.id); });
  Finish(json, product);
  if (!product.variants.empty() && product.variants.front().sent.shorthand) {
    product.variants.front().sent.unknown = product.sent.unknown;
  }
  return product;
}

// Not cleared by the cloud, whose stations may be others.
void DraftReader::ReadStationOf(ObjectReader& json, Product& product) {
  if (!form_.is_of_cloud) {
    Take(json, "kitchen_id", product, &Product::kitchen_id, json.Uuid("kitchen_id"));
  } else if (auto station = ParseId(json.Text("kitchen_id").value_or(""))) {
    Set(product, &Product::kitchen_id, *std::move(station));
  }
}

void DraftReader::ReadCategoryOf(ObjectReader& json, Product& product) {
  Take(json, "category_id", product, &Product::category_id, json.Uuid("category_id", false));
  product.category_name = json.Text("category_name", kNameRule).value_or("");
  product.new_category_id = NewId(now_);
  if (form_.complete && !json.HasValue("category_id") && !json.HasValue("category_name")) {
    json.Fail("category_id", FieldCode::kRequired,
              "or category_name is required: the id of a category of GET /v1/menu, or the name of "
              "one, which is made where it is missing");
  }
}

void DraftReader::ReadImages(ObjectReader& json, Product& product) {
  const bool cleared = form_.is_change && json.IsNull("images");
  const auto images = json.Texts("images", kImagesMax, kUrlRule);
  if (!images && !cleared) return;
  std::string text;
  json::Writer writer(text);
  writer.BeginArray();
  if (images) {
    for (const std::string& image : *images) writer.Text(image);
  }
  writer.EndArray();
  Set(product, &Product::images, std::move(text));
}

// True if the product has the fields of its only variant itself.
bool DraftReader::HasShorthand(ObjectReader& json) const {
  if (form_.is_of_cloud) {
    const std::optional<json::Value> price = json.Peek("price");
    return price && price->kind() == json::Kind::kNumber &&
           json.Objects("variants", company::kRowsMax, true).empty();
  }
  if (form_.is_change || json.Raw("variants")) return false;
  bool any = form_.complete;
  for (const std::string_view field : kShorthand) any |= json.Raw(field).has_value();
  return any;
}

// Without an id: a file derives it from that of the product.
Variant DraftReader::ReadShorthand(ObjectReader& json) {
  Variant only;
  only.sent.shorthand = true;
  only.sent.path = json.path();
  only.sent.offset = json.offset();
  only.name = kOnlyVariant;
  ReadPrices(json, only);
  return only;
}

void DraftReader::ReadVariants(ObjectReader& json, Product& product) {
  if (form_.is_change) {
    constexpr std::string_view kElsewhere =
        "belongs to a variant: change it with PATCH /v1/menu/products/{id}/variants/{variantId}, "
        "add one with POST /v1/menu/products/{id}/variants";
    for (const std::string_view field : kShorthand) {
      json.Refuse(field, FieldCode::kNotAllowed, kElsewhere);
    }
  }
  if (!product.variants.empty()) {
    Variant& only = product.variants.front();
    if (form_.is_of_cloud) return;
    only.id = form_.in_file() ? variants_.Derive(NaturalKey(product.id, only.name, std::nullopt))
                              : NewId(now_);
    return;
  }
  product.sent.has_variants = IsListed(json, "variants");
  if (!product.sent.has_variants) return;
  for (const std::string_view field : kShorthand) {
    if (form_.is_change || form_.is_of_cloud || !json.Raw(field)) continue;
    json.Fail(field, FieldCode::kNotAllowed,
              "is for a product of one price; this one has variants: give it to each of them");
  }
  product.variants =
      ReadList<Variant>(json, "variants", kVariantsMax, !form_.complete,
                        [&](ObjectReader& row) { return ReadVariant(row, product.id); });
}

Variant DraftReader::ReadVariant(ObjectReader& json, const std::string& product_id) {
  Variant variant = Start<Variant>(json);
  ReadPrices(json, variant);
  if (form_ == kPatchVariant) {
    variant.sent.claimed_id = ClaimedId(json, "id");
  } else if (form_ == kPostVariant) {
    RefuseId(json);
    json.Refuse("product_id", FieldCode::kReadOnly, "stands in the path: leave it out");
    variant.id = NewId(now_);
  } else {
    TakeId(json, variants_, product_id, variant.sku, variant);
  }
  if (form_.is_change) {
    json.RefuseNull(
        {"name", "price", "packaging_price", "position", "id", "product_id", "currency"});
  }
  if (form_.is_of_cloud) {
    // Computed fields are the cloud's.
  } else if (!form_.complete) {
    CheckRecordSentBack(json);
    variant.sent.claimed_product_id = ClaimedId(json, "product_id");
  } else if (!form_.in_file()) {
    RefuseComputed(json);
    json.Ignore({"product_id"});
  }
  Finish(json, variant);
  return variant;
}

void DraftReader::CheckRecordSentBack(ObjectReader& json) const {
  json.Ignore({"available", "sold_out"});
  const std::optional<json::Value> currency = json.Raw("currency");
  if (!currency) return;
  if (currency->kind() == json::Kind::kText && currency->text() == currency_) return;
  json.Fail("currency", FieldCode::kReadOnly,
            "comes from the company that owns the key and is " + currency_ + "; leave it out");
}

void DraftReader::ReadPrices(ObjectReader& json, Variant& variant) {
  Take(json, "sku", variant, &Variant::sku, json.Text("sku", kSkuRule));
  Take(json, "price", variant, &Variant::price,
       form_.complete ? json.RequireMoney("price", decimals_) : json.Money("price", decimals_));
  Take(json, "original_price", variant, &Variant::original_price,
       json.Money("original_price", decimals_));
  TakeOrZero(json, "packaging_price", variant, &Variant::packaging_price,
             json.Money("packaging_price", decimals_));
  Take(json, "cost", variant, &Variant::cost, json.Money("cost", decimals_));
  if (form_.is_of_cloud) {
    variant.stock = ShownStock(json);
  } else {
    Take(json, "stock", variant, &Variant::stock, json.Number("stock", kStockRule));
  }
  Take(json, "stock_threshold", variant, &Variant::stock_threshold,
       json.Number("stock_threshold", kStockRule));
}

// A type that the cloud alone knows is passed.
void DraftReader::ReadType(ObjectReader& json, ModifierCategory& category) {
  const std::string shown = form_.is_of_cloud ? json.Text("type").value_or("") : "many";
  const bool is_passed = shown != "one" && shown != "many";
  const auto type = is_passed ? std::nullopt : json.OneOf("type", {"one", "many"});
  if (type) Set(category, &ModifierCategory::type, *type == 0 ? "one" : "many");
}

ModifierCategory DraftReader::ReadModifierCategory(ObjectReader& json,
                                                   const std::string& product_id) {
  ModifierCategory category = Start<ModifierCategory>(json);
  TakeId(json, modifier_categories_, product_id, std::nullopt, category);
  ReadType(json, category);
  Take(json, "required", category, &ModifierCategory::required, json.Boolean("required"));
  TakeOrZero(json, "min_modifiers", category, &ModifierCategory::min_modifiers,
             json.Number("min_modifiers", kCountRule), category.required ? 1 : 0);
  Take(json, "max_modifiers", category, &ModifierCategory::max_modifiers,
       json.Number("max_modifiers", kCountRule));
  Take(json, "is_active", category, &ModifierCategory::is_active, json.Boolean("is_active"));
  if (form_.is_change) {
    json.RefuseNull(
        {"name", "type", "required", "min_modifiers", "is_active", "position", "modifiers"});
  }
  category.sent.has_modifiers = IsListed(json, "modifiers");
  category.modifiers =
      ReadList<Modifier>(json, "modifiers", kModifiersMax, true,
                         [&](ObjectReader& row) { return ReadModifier(row, category.id); });
  Finish(json, category);
  return category;
}

Modifier DraftReader::ReadModifier(ObjectReader& json, const std::string& category_id) {
  Modifier modifier = Start<Modifier>(json);
  TakeId(json, modifiers_, category_id, std::nullopt, modifier);
  Take(json, "sku", modifier, &Modifier::sku, json.Text("sku", kSkuRule));
  TakeOrZero(json, "price", modifier, &Modifier::price, json.Money("price", decimals_));
  Take(json, "original_price", modifier, &Modifier::original_price,
       json.Money("original_price", decimals_));
  Take(json, "max_limit", modifier, &Modifier::max_limit, json.Number("max_limit", kLimitRule));
  Take(json, "visible", modifier, &Modifier::visible, json.Boolean("visible"));
  json.Ignore({"sold_out"});
  if (form_.is_change) json.RefuseNull({"name", "price", "position", "visible"});
  Finish(json, modifier);
  return modifier;
}

void ReadUpsert(ObjectReader& json, DraftReader& reader, std::vector<Product>& products) {
  const std::optional<json::Value> sent = json.Raw("products");
  const bool is_list = sent && sent->kind() == json::Kind::kArray;
  if (const size_t count = is_list ? sent->items().size() : 0; count > kUpsertMax) {
    json.Fail("products", FieldCode::kTooManyProducts,
              "must have at most " + std::to_string(kUpsertMax) + " items, not " +
                  std::to_string(count) + ": send the rest in another call");
    return;
  }
  reader.ReadProducts(json.RequireObjects("products", kUpsertMax), "", products);
  json.Finish();
}

}  // namespace

Draft ReadBody(const Body& body, const Form& form, const company::Company& company, UtcMs now,
               json::Errors& errors) {
  Draft draft = {.form = form, .stations = {}, .categories = {}, .products = {}};
  ObjectReader json(body.document.root(), "", errors, body.unknown);
  DraftReader reader(form, company, now);
  switch (form.top) {
    case Form::Top::kProducts:
      ReadUpsert(json, reader, draft.products);
      break;
    case Form::Top::kVariant:
      draft.products.emplace_back().variants.push_back(reader.ReadVariant(json, ""));
      break;
    case Form::Top::kProduct:
    case Form::Top::kFile:
      draft.products.push_back(reader.ReadProduct(json));
      break;
  }
  if (form.is_change && json.NothingRead()) {
    errors.Add("body", FieldCode::kEmpty,
               "changes nothing: send at least one field" + json.NearMiss());
  }
  return draft;
}

Draft ReadFile(ObjectReader& row, const company::Company& company) {
  Draft draft = {.form = kImportFile, .stations = {}, .categories = {}, .products = {}};
  DraftReader reader(kImportFile, company, 0);
  draft.stations =
      reader.ReadList<Station>(row, "stations", company::kRowsMax, true,
                               [&](ObjectReader& json) { return reader.ReadStation(json); });
  draft.categories = reader.ReadList<Category>(
      row, "categories", company::kRowsMax, true,
      [&](ObjectReader& json) { return reader.ReadCategory(json, draft.products); });
  return draft;
}

Product ReadShown(json::Value record, const company::Company& company, std::string path,
                  json::Errors& errors) {
  ObjectReader json(record, std::move(path), errors, json::UnknownFields::kTolerated);
  return DraftReader(kCloudRecords, company, 0).ReadProduct(json);
}

void ReadShown(json::Value record, Category& category, json::Errors& errors) {
  ObjectReader json(record, "", errors, json::UnknownFields::kTolerated);
  company::TakeRequired(json, "name", kNameRule, category.name);
  if (const auto position = json.Number("position", kPositionRule)) category.position = *position;
  DraftReader::ReadFields(json, category);
}

SoldOutUntil ReadSoldOut(const json::Document& body, json::UnknownFields unknown, UtcMs now) {
  constexpr int64_t kAheadMaxMs = 8LL * 24 * 60 * 60 * 1000;
  json::Errors errors;
  ObjectReader json(body.root(), "", errors, unknown);
  SoldOutUntil wanted;
  wanted.until = json.Instant("until");
  if (body.root().kind() == json::Kind::kObject && !json.Raw("until") && !json.IsNull("until")) {
    json.Fail("until", FieldCode::kRequired,
              "is required: an instant, or null for as long as nobody says otherwise.");
  }
  if (wanted.until && (*wanted.until <= now || *wanted.until > now + kAheadMaxMs)) {
    json.Fail("until", FieldCode::kOutOfRange, "must lie ahead, by at most 8 days.");
  }
  json.Finish();
  errors.ThrowIfAny();
  return wanted;
}

std::string RenderSoldOut(std::string_view id, std::string_view name, bool is_available,
                          const std::optional<SoldOut>& sold_out) {
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  out.Key("id").Text(id);
  out.Key("name").Text(name);
  out.Key("available").Boolean(is_available);
  AppendSoldOut(out, sold_out);
  out.EndObject();
  return text;
}

// Records.

void AppendSoldOut(json::Writer& out, const std::optional<SoldOut>& sold_out) {
  out.Key("sold_out");
  if (!sold_out) {
    out.Null();
    return;
  }
  out.BeginObject();
  out.Key("since").Instant(sold_out->since);
  out.Key("until").Instant(sold_out->until);
  out.Key("by").Text(sold_out->by);
  out.EndObject();
}

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
  out.Key("images").Stored(product.images);
  out.Key("position").Integer(product.position);
  out.Key("visible").Boolean(product.visible);
  out.Key("available").Boolean(IsAvailable(product));
  AppendSoldOut(out, product.sold_out);
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
  AppendSoldOut(out, modifier.sold_out);
  out.EndObject();
}

}  // namespace comanda::menu
