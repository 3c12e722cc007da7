#include "cloud/menu/menu_body.h"

#include <algorithm>

#include "base/concat.h"
#include "crypto/hash.h"
#include "json/writer.h"
#include "menu/fields.h"
#include "menu/json.h"

namespace comanda::cloud {
namespace {

using aliases::Kind;

class BodyWriter {
 public:
  BodyWriter(json::Writer& out, int decimals, const CloudId& cloud_id)
      : out_(out), decimals_(decimals), cloud_id_(cloud_id) {}

  void Write(const menu::Product& product, std::string_view category_name) {
    const std::optional<std::string> id = cloud_id_(Kind::kProduct, product.id);
    const bool has_sku = std::ranges::any_of(
        product.variants, [](const menu::Variant& variant) { return variant.sku.has_value(); });
    out_.BeginObject();
    if (id || !has_sku) out_.Key("id").Text(id.value_or(product.id));
    WriteCategory(product.category_id, category_name);
    WriteFields(product);
    out_.Key("variants").BeginArray();
    for (const menu::Variant& variant : product.variants) Write(variant, !id);
    out_.EndArray().Key("modifier_categories").BeginArray();
    for (const menu::ModifierCategory& category : product.modifier_categories) Write(category);
    out_.EndArray().EndObject();
  }

 private:
  void WriteCategory(std::string_view id, std::string_view name) {
    if (const auto there = cloud_id_(Kind::kCategory, id)) {
      out_.Key("category_id").Text(*there);
    } else {
      out_.Key("category_name").Text(name);
    }
  }

  void WriteFields(const menu::Product& product) {
    out_.Key("name").Text(product.name);
    WriteText("description", product.description);
    WriteText("image_url", product.image_url);
    out_.Key("images").Stored(product.images);
    out_.Key("position").Integer(product.position);
    // The specification has no other word for what is sold out.
    out_.Key("visible").Boolean(product.visible && !product.sold_out);
    out_.Key("stock_enabled").Boolean(product.stock_enabled);
    WriteText("messages_for_customers", product.messages_for_customers);
  }

  void Write(const menu::Variant& variant, bool with_stock) {
    out_.BeginObject();
    WriteId(Kind::kVariant, variant.id);
    out_.Key("name").Text(variant.name);
    WriteText("sku", variant.sku);
    out_.Key("price").Scaled(variant.price, decimals_);
    WriteMoney("original_price", variant.original_price);
    out_.Key("packaging_price").Scaled(variant.packaging_price, decimals_);
    WriteMoney("cost", variant.cost);
    if (with_stock && variant.stock) {
      out_.Key("stock").Scaled(*variant.stock, menu::kStockDecimals);
    }
    if (variant.stock_threshold) {
      out_.Key("stock_threshold").Scaled(*variant.stock_threshold, menu::kStockDecimals);
    }
    out_.Key("position").Integer(variant.position);
    out_.EndObject();
  }

  void Write(const menu::ModifierCategory& category) {
    out_.BeginObject();
    WriteId(Kind::kModifierCategory, category.id);
    out_.Key("name").Text(category.name);
    out_.Key("type").Text(category.type);
    out_.Key("required").Boolean(category.required);
    out_.Key("min_modifiers").Integer(category.min_modifiers);
    if (category.max_modifiers) out_.Key("max_modifiers").Integer(*category.max_modifiers);
    out_.Key("is_active").Boolean(category.is_active);
    out_.Key("position").Integer(category.position);
    out_.Key("modifiers").BeginArray();
    for (const menu::Modifier& modifier : category.modifiers) Write(modifier);
    out_.EndArray().EndObject();
  }

  void Write(const menu::Modifier& modifier) {
    out_.BeginObject();
    WriteId(Kind::kModifier, modifier.id);
    out_.Key("name").Text(modifier.name);
    WriteText("sku", modifier.sku);
    out_.Key("price").Scaled(modifier.price, decimals_);
    WriteMoney("original_price", modifier.original_price);
    if (modifier.max_limit) out_.Key("max_limit").Integer(*modifier.max_limit);
    out_.Key("visible").Boolean(modifier.visible);
    out_.Key("position").Integer(modifier.position);
    out_.EndObject();
  }

  // A row that the cloud does not know is matched in the cloud by its sku or name.
  void WriteId(Kind kind, std::string_view box_id) {
    if (const auto id = cloud_id_(kind, box_id)) out_.Key("id").Text(*id);
  }
  void WriteText(json::Name name, const std::optional<std::string>& text) {
    if (text) out_.Key(name).Text(*text);
  }
  void WriteMoney(json::Name name, std::optional<Minor> amount) {
    if (amount) out_.Key(name).Scaled(*amount, decimals_);
  }

  json::Writer& out_;
  const int decimals_;
  const CloudId& cloud_id_;
};

// Each field that is shown, and that another is not.
void AppendValue(std::string& out, const std::string& text) { out += text; }
void AppendValue(std::string& out, int64_t number) { out += std::to_string(number); }
template <typename T>
void AppendValue(std::string& out, const std::optional<T>& value) {
  if (value) AppendValue(out, *value);
}

template <typename Row>
void AppendShown(std::string& out, const Row& row) {
  constexpr char kField = '\x1f', kNotShown = '\x1e';
  out += row.id;
  menu::ForEachField<Row>([&](auto field, uint32_t bit) {
    out += kField;
    if (row.sent.fields & bit) {
      AppendValue(out, row.*field);
    } else {
      out += kNotShown;
    }
  });
}

}  // namespace

std::string Fingerprint(const menu::Product& shown) {
  std::string text;
  AppendShown(text, shown);
  for (const menu::Variant& variant : shown.variants) AppendShown(text, variant);
  for (const menu::ModifierCategory& group : shown.modifier_categories) {
    AppendShown(text, group);
    for (const menu::Modifier& modifier : group.modifiers) AppendShown(text, modifier);
  }
  return Concat({kFingerprintForm, crypto::Sha256Hex(text)});
}

std::string PushBody(const menu::Product& product, std::string_view category_name, int decimals,
                     const CloudId& cloud_id) {
  std::string body;
  json::Writer out(body);
  out.BeginObject().Key("products").BeginArray();
  BodyWriter(out, decimals, cloud_id).Write(product, category_name);
  out.EndArray().EndObject();
  return body;
}

std::string ContentHash(const menu::Product& product, int decimals) {
  const CloudId same = [](Kind, std::string_view id) { return std::optional(std::string(id)); };
  return crypto::Sha256Hex(PushBody(product, "", decimals, same));
}

}  // namespace comanda::cloud
