#pragma once

// The menu as JSON: request bodies, import files and answers (contract section 9).

#include <optional>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "company/company.h"
#include "json/reader.h"
#include "json/writer.h"
#include "menu/draft.h"
#include "menu/product.h"

namespace comanda::menu {

// Bodies.

// A request body, and what to do with unknown fields.
struct Body {
  const json::Document& document;
  json::UnknownFields unknown;
};

// Reads a request body; adds every invalid field to `errors`. The draft is usable only if there are
// none, but a bulk upsert's draft contains the valid products, so that they can be checked further.
// A row without an id gets a new one (with `now` as its time); the caller overwrites the ids that
// the path names. The draft of a form for one product has one product; that of a form for one
// variant has one product with one variant.
Draft ReadBody(const Body& body, const Form& form, const company::Company& company, UtcMs now,
               json::Errors& errors);
// Reads stations[] and categories[] of a company in an import file, with everything below them.
// Adds every invalid field to the errors of `row`; leaves invalid products out. A row without an id
// gets one derived from its natural key (app/IMPORT.md).
Draft ReadFile(json::ObjectReader& row, const company::Company& company);

// Reads what the cloud shows of a product, for a draft of the form kCloudRecords. Its rows have the
// ids of the cloud (empty where it shows none) and no category; the stock of variants is not among
// the fields that are sent. `path` prefixes the names of fields in errors.
Product ReadShown(json::Value record, const company::Company& company, std::string path,
                  json::Errors& errors);
// Writes what the cloud shows of a category without its products; what it does not show stays.
void ReadShown(json::Value record, Category& category, json::Errors& errors);

// The body of PUT …/sold-out. `now`: the instant must lie ahead of it, by at most 8 days.
struct SoldOutUntil {
  std::optional<UtcMs> until;  // nothing: until somebody says so
};
SoldOutUntil ReadSoldOut(const json::Document& body, json::UnknownFields unknown, UtcMs now);

// Records.

// Writes the member `sold_out` into an object that the caller has begun.
void AppendSoldOut(json::Writer& out, const std::optional<SoldOut>& sold_out);
// The answer of …/sold-out.
std::string RenderSoldOut(std::string_view id, std::string_view name, bool is_available,
                          const std::optional<SoldOut>& sold_out);

// Stock is exchanged with three decimals, and stored in thousandths.
inline constexpr int kStockDecimals = 3;

// Whether `cost` of variants is rendered. Only keys with menu:write may see it.
enum class Costs : uint8_t {
  kHidden,
  kShown,
  // For the stored form of a record (menu/record.h): costs are enclosed by two kCostMark, and each
  // stock count is replaced by kStockMark.
  kMarked,
};
// Control bytes, which never occur in JSON text.
inline constexpr char kStockMark = '\x01';
inline constexpr char kCostMark = '\x02';
inline constexpr char kMarks[] = {kStockMark, kCostMark};

// Renders products of one company. Immutable; any thread.
class Renderer {
 public:
  Renderer(const company::Company& company, Costs costs)
      : currency_(company.currency), decimals_(company.currency_decimals), costs_(costs) {}

  // A product with its variants and modifiers.
  void Write(json::Writer& out, const Product& product) const;
  // One variant; the product supplies what `available` depends on.
  void Write(json::Writer& out, const Product& product, const Variant& variant) const;

 private:
  void Write(json::Writer& out, const ModifierCategory& category) const;
  void Write(json::Writer& out, const Modifier& modifier) const;
  // The end of a variant's record: the currency, and after it the cost, by `costs_`.
  std::string Tail(const Variant& variant) const;

  std::string currency_;
  int decimals_;
  Costs costs_;
};

// Writes the category's own fields into an object that the caller has begun.
void WriteFields(json::Writer& out, const Category& category);

}  // namespace comanda::menu
