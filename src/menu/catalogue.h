#pragma once

// What can be done with the menu (specification, Menu; contract sections 9, 13 and 19). The API and
// the import read and write it through this file alone.
//
// Writing runs in the caller's transaction, is a pure function of (tx, input, stamp) and may run
// again. A stock count that moves without a variant's `available` flipping is no change: it is
// written without event, updated_at or tag.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "company/company.h"
#include "company/tally.h"
#include "db/database.h"
#include "db/session.h"
#include "http/page_rows.h"
#include "json/reader.h"
#include "menu/draft.h"
#include "menu/json.h"
#include "menu/product.h"

namespace comanda::menu {

// Reading.

// Which products are shown, of which categories.
struct Filter {
  std::optional<bool> visible, available;
  std::optional<UtcMs> updated_since;
  size_t categories_offset = 0;
  size_t categories_limit = SIZE_MAX;
};
// Adds the categories' records with the products chosen. Returns how many categories there are in
// all.
size_t AddCategories(http::PageRows& rows, db::Session& session, const company::Company& company,
                     Costs costs, const Filter& filter);
// The record of one. Refusal not_found where there is none.
void AddCategory(http::PageRows& rows, db::Session& session, const company::Company& company,
                 Costs costs, std::string_view id);
Product GetProduct(db::Session& session, db::CompanyId company, std::string_view id);

// Writing.

enum class Effect : uint8_t { kCreated, kUpdated, kStockMoved, kUnchanged };

// What became of a draft.
struct Written {
  struct Row {
    std::string id;
    std::optional<std::string> sku;  // of its first variant that has one
    Effect effect = Effect::kUnchanged;
  };
  std::vector<Row> rows;  // the draft's products
  // Products that the draft does not name, from which it moved a row to another.
  std::vector<std::string> losers;
  company::Tally stations, categories, products, variants, modifier_categories, modifiers;

  bool changed() const {
    return stations.changed() || categories.changed() || products.changed() || !losers.empty();
  }
};

// Notes what Write() would refuse.
void Check(db::Session& session, db::CompanyId company, const Draft& draft, json::Errors& errors);
// Writes all of the draft or, where anything is wrong, refuses it. Writes no event and no rendered
// records: Announce() and RenderStale() follow.
Written Write(db::Tx& tx, db::CompanyId company, const Draft& draft, const db::Stamp& stamp);
// One event of all products that were created or updated, which lists their ids:
// {"created":[…],"updated":[…]}. False, and no event, where there are none.
bool Announce(db::Tx& tx, const company::Company& company, const Written& written,
              const db::Stamp& stamp);
// Writes a draft of one product with its event and its rendered record. The product as it is then.
Product WriteOne(db::Tx& tx, const company::Company& company, const Draft& draft,
                 const db::Stamp& stamp);

// Renders the records that are stale, if any (menu/record.h): after a bulk upsert or an import, at
// the start of a new release, and as a chore. In jobs that do not hold the writer for long.
void RenderStale(
    db::Database& database, const std::function<void()>& progress = [] {});

// For stock: the product's record changed by itself. Raises its version and writes the event.
void NoteChange(db::Tx& tx, const company::Company& company, std::string_view product_id,
                const db::Stamp& stamp);

}  // namespace comanda::menu
