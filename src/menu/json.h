#pragma once

// The menu on the wire (contract section 9).

#include <string>

#include "base/clock.h"
#include "company/company.h"
#include "json/reader.h"
#include "json/writer.h"
#include "menu/draft.h"
#include "menu/product.h"

namespace comanda::menu {

// Bodies.

struct Body {
  const json::Document& document;
  json::UnknownFields unknown;
};

// Notes every wrong field in the errors. Products with a wrong field are left out of a bulk
// upsert's draft. A row without an id gets a new one, made of `now`; the caller sets the ids that
// the path names. Where there are no errors, a form of one product gives one product, a form of one
// variant one product with one variant.
Draft ReadBody(const Body& body, const Form& form, const company::Company& company, UtcMs now,
               json::Errors& errors);
// stations[] and categories[] of a company in an import file, with everything below them. Notes
// every wrong field in the row's errors; products with a wrong field are left out. A row without an
// id gets one derived from its natural key (app/IMPORT.md).
Draft ReadFile(json::ObjectReader& row, const company::Company& company);

// Records.

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
