#pragma once

// What can be done with the menu (specification, Menu; contract sections 9, 13 and 19).
//
// Commands run in the caller's transaction, are pure functions of (tx, input, stamp) and may run
// again. Each writes exactly one event, or none where nothing changes; stock counts that move
// without a variant's `available` flipping are written without event, updated_at or tag.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "company/company.h"
#include "db/database.h"
#include "db/session.h"
#include "json/reader.h"
#include "menu/json.h"
#include "menu/patch.h"
#include "menu/product.h"

namespace comanda::menu {

// -- reading --------------------------------------------------------------------------------------

struct Filter {
  std::optional<bool> visible, available;
  std::optional<UtcMs> updated_since;
};

struct Range {
  size_t offset = 0;
  size_t limit = SIZE_MAX;
};

struct Page {
  std::string categories;  // records of the range, comma-separated, with the products chosen
  size_t total = 0;        // categories
};
Page FindPage(db::Session& session, const company::Company& company, Costs costs,
              const Filter& filter, Range range);

// Refusal not_found where there is none.
std::string GetCategory(db::Session& session, const company::Company& company, Costs costs,
                        std::string_view id);
Product GetProduct(db::Session& session, db::CompanyId company, std::string_view id);

// -- writing --------------------------------------------------------------------------------------

// The one event of a change of many products.
struct Announcement {
  std::vector<std::string> created, updated;  // ids
  bool all_created = false;                   // of all that the caller named
};
void Announce(db::Tx& tx, db::CompanyId company, const Announcement& products,
              const db::Stamp& stamp);

// The products as they are afterwards.
Product Create(db::Tx& tx, const company::Company& company, const ProductPatch& patch,
               const db::Stamp& stamp);
Product Change(db::Tx& tx, const company::Company& company, std::string_view product_id,
               const ProductPatch& patch, const db::Stamp& stamp);

struct ChangedVariant {
  Product product;
  Variant variant;
};
ChangedVariant AddVariant(db::Tx& tx, const company::Company& company, std::string_view product_id,
                          const VariantPatch& patch, const db::Stamp& stamp);
ChangedVariant ChangeVariant(db::Tx& tx, const company::Company& company,
                             std::string_view product_id, std::string_view variant_id,
                             VariantPatch patch, const db::Stamp& stamp);

enum class Effect : uint8_t { kCreated, kUpdated, kStockMoved, kUnchanged };

struct Upserted {
  std::string id;
  std::optional<std::string> sku;  // of its first variant that has one
  Effect effect = Effect::kUnchanged;
};
// All rows or none. One event that lists the ids: {"created":[…],"updated":[…]}.
std::vector<Upserted> Upsert(db::Tx& tx, const company::Company& company,
                             const std::vector<ProductPatch>& patches, const db::Stamp& stamp);
// Adds what is wrong with those rows that are not `wrong` already, and throws.
void RefuseUpsert(db::Session& session, db::CompanyId company,
                  const std::vector<ProductPatch>& patches, json::Errors& errors);

// Renders the records that are stale, if any (menu/record.h): after a bulk upsert or an import, at
// the start of a new release, and as a chore. In jobs that do not hold the writer for long.
void RenderStale(
    db::Database& database, const std::function<void()>& progress = [] {});

// For stock: the product's record changed by itself. Raises its version and writes the event.
void NoteChange(db::Tx& tx, const company::Company& company, std::string_view product_id,
                const db::Stamp& stamp);

}  // namespace comanda::menu
