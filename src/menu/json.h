#pragma once

// The menu on the wire (contract section 9).

#include <string>
#include <vector>

#include "company/company.h"
#include "json/reader.h"
#include "json/writer.h"
#include "menu/patch.h"
#include "menu/product.h"

namespace comanda::menu {

// -- bodies ---------------------------------------------------------------------------------------

struct Body {
  const json::Document& document;
  json::UnknownFields unknown;
};

// Every wrong field is noted in the errors; what stands in the patches is right.
ProductPatch ReadNewProduct(const Body& body, int decimals, json::Errors& errors);
ProductPatch ReadProductChange(const Body& body, int decimals, json::Errors& errors);
VariantPatch ReadNewVariant(const Body& body, int decimals, json::Errors& errors);
VariantPatch ReadVariantChange(const Body& body, int decimals, json::Errors& errors);
inline constexpr size_t kUpsertMax = 500;
std::vector<ProductPatch> ReadUpsert(const Body& body, int decimals, json::Errors& errors);

// -- records --------------------------------------------------------------------------------------

enum class Costs : uint8_t { kHidden, kShown };  // what a variant costs is for menu:write alone

class Renderer {
 public:
  Renderer(const company::Company& company, Costs costs)
      : currency_(company.currency), decimals_(company.currency_decimals), costs_(costs) {}

  void Write(json::Writer& out, const Category& category) const;
  void Write(json::Writer& out, const Product& product) const;
  void Write(json::Writer& out, const Product& product, const Variant& variant) const;

 private:
  void Write(json::Writer& out, const ModifierCategory& category) const;
  void Write(json::Writer& out, const Modifier& modifier) const;

  std::string currency_;
  int decimals_;
  Costs costs_;
};

}  // namespace comanda::menu
