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

inline constexpr int kStockDecimals = 3;

// What a variant costs is for menu:write alone.
enum class Costs : uint8_t {
  kHidden,
  kShown,
  kMarked,  // for storing: costs between two kCostMark, kStockMark for each stock that is counted
};
// No JSON text has these bytes.
inline constexpr char kStockMark = '\x01';
inline constexpr char kCostMark = '\x02';
inline constexpr char kMarks[] = {kStockMark, kCostMark};

class Renderer {
 public:
  Renderer(const company::Company& company, Costs costs)
      : currency_(company.currency), decimals_(company.currency_decimals), costs_(costs) {}

  void Write(json::Writer& out, const Product& product) const;
  void Write(json::Writer& out, const Product& product, const Variant& variant) const;

 private:
  void Write(json::Writer& out, const ModifierCategory& category) const;
  void Write(json::Writer& out, const Modifier& modifier) const;
  // The currency and, behind it, what the variant costs.
  std::string Tail(const Variant& variant) const;

  std::string currency_;
  int decimals_;
  Costs costs_;
};

// The category's own fields, for an object that is still open.
void WriteFields(json::Writer& out, const Category& category);

}  // namespace comanda::menu
