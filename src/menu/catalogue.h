#pragma once

// Reads and writes the menu (specification, Menu; contract sections 9, 13 and 19): the interface of
// this room for the API and the import. Orders use menu/menu.h instead.
//
// Writing runs in the caller's transaction and is a pure function of (tx, draft, stamp), because
// the writer may run a job again. Changes of stock counts are not changes of a product: they raise
// neither its version nor its updated_at and write no event, unless a variant's `available` flips.
//
// Functions throw Fault on a database error.

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "company/company.h"
#include "company/import_counts.h"
#include "db/database.h"
#include "db/session.h"
#include "http/page_rows.h"
#include "json/reader.h"
#include "menu/draft.h"
#include "menu/json.h"
#include "menu/product.h"

namespace comanda::menu {

// Reading.

// Which products to return, and which slice of the categories.
struct Filter {
  std::optional<bool> visible, available;
  std::optional<UtcMs> updated_since;
  size_t categories_offset = 0;
  size_t categories_limit = SIZE_MAX;
  // Of the products of each category.
  size_t products_offset = 0;
  size_t products_limit = SIZE_MAX;
};
// Adds one row for each category of the slice, with its matching products. Returns the number of
// all categories of the company.
size_t AddCategories(http::PageRows& rows, db::Session& session, const company::Company& company,
                     Costs costs, const Filter& filter);
// Adds the row of one category with its matching products, which are the rows that a page counts.
// Returns the number of all that match. Throws Refusal(kNotFound).
size_t AddCategory(http::PageRows& rows, db::Session& session, const company::Company& company,
                   Costs costs, std::string_view id, const Filter& filter);
// All categories, by position.
std::vector<Category> AllCategories(db::Session& session, db::CompanyId company);
// A product with its variants and modifiers; nothing for an unknown id.
std::optional<Product> FindWhole(db::Session& session, db::CompanyId company, std::string_view id);
// The same; throws Refusal(kNotFound).
Product GetProduct(db::Session& session, db::CompanyId company, std::string_view id);

// Writing.

// What writing did to a product. kStockMoved: only stock counts changed.
enum class Effect : uint8_t { kCreated, kUpdated, kStockMoved, kUnchanged };

// The result of Write().
struct Written {
  struct Row {
    std::string id;
    // The sku of its first variant that has one.
    std::optional<std::string> sku;
    Effect effect = Effect::kUnchanged;
  };
  // One for each product of the draft.
  std::vector<Row> rows;
  // Ids of products that are not in the draft, from which it moved a variant or modifier to another
  // product.
  std::vector<std::string> former_products;
  // Stations of which it has changed whether anything is made there; a new one that makes something
  // is none of them.
  std::vector<std::string> switched_stations;
  company::ImportCounts stations, categories, products, variants, modifier_categories, modifiers;

  // True if anything was written except stock counts.
  bool changed() const {
    return stations.changed() || categories.changed() || products.changed() ||
           !former_products.empty();
  }
};

// Adds the errors for which Write() would refuse the draft. Writes nothing.
void Check(db::Session& session, db::CompanyId company, const Draft& draft, json::Errors& errors);
// Writes the whole draft, or throws Refusal with every error and writes nothing. Writes neither
// events nor rendered records: call Announce() and RenderStale() afterwards.
Written Write(db::Tx& tx, db::CompanyId company, const Draft& draft, const db::Stamp& stamp);
// Writes the products of a draft of the cloud's records (kCloudRecords), as Write() does, without
// those that it would refuse.
struct Upserted {
  Written written;
  // By the index of the product in the draft: why it is left out.
  std::map<size_t, FieldError> refused;
};
Upserted Upsert(db::Tx& tx, db::CompanyId company, Draft draft, const db::Stamp& stamp);
// The visible products that a file with a menu does not mention, in the order of the menu. One of
// them may be the former name of a product that the file created. Nothing for a file without a
// menu.
std::vector<ShownProduct> FindLeftOut(db::Session& session, db::CompanyId company,
                                      const Draft& draft);

// Writes one event for all products created or updated, with their ids:
// {"created":[…],"updated":[…]}. Returns false, without an event, if there are none.
bool Announce(db::Tx& tx, const company::Company& company, const Written& written,
              const db::Stamp& stamp);
// Writes a draft of a single product with its event and its rendered record. Returns the stored
// product.
Product WriteOne(db::Tx& tx, const company::Company& company, const Draft& draft,
                 const db::Stamp& stamp);

// Shows or hides one product; as WriteOne().
Product SetVisible(db::Tx& tx, const company::Company& company, std::string_view product_id,
                   bool visible, const db::Stamp& stamp);

// What is in stock of a variant, in thousandths.
struct Stock {
  std::string product_id, variant_id;
  int64_t units = 0;
};
// Sets the counts of variants, and writes the event of those of which `available` flips. `stocks`:
// those of one product one after the other.
void SetStock(db::Tx& tx, const company::Company& company, std::span<const Stock> stocks,
              const db::Stamp& stamp);

// Logs skus of one company that differ only in case and in what stands around them, as databases
// of older programs have them. After an upgrade.
void LogTwinSkus(db::Database& database);

// Renders the records that are stale (menu/record.h), in transactions of bounded size; cheap if
// there are none. Called after a bulk upsert or an import, at the start of a new version, and
// periodically. Blocks until done; `progress` is called after each transaction.
void RenderStale(
    db::Database& database, const std::function<void()>& progress = [] {});

// For changes of stock that flip `available`: raises the product's version and writes its event.
void NoteChange(db::Tx& tx, const company::Company& company, std::string_view product_id,
                const db::Stamp& stamp);

}  // namespace comanda::menu
