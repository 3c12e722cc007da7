#pragma once

// Decides what a draft does to the stored menu: which rows are created, updated or left alone. All
// checks that need the database are here, and they all run before anything is written, so that
// every invalid row is reported at once.

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/problem.h"
#include "company/import_counts.h"
#include "db/session.h"
#include "json/reader.h"
#include "menu/draft.h"
#include "menu/merge.h"
#include "menu/product.h"

namespace comanda::menu {

// One product of the draft.
struct PlannedProduct {
  const Product* sent;
  // The stored product (nothing if it is new), and what it will be. Modifiers are loaded in both or
  // in neither.
  std::optional<Product> before;
  Product after;
  // The targets of the variants sent.
  Targets targets;
};

// The changes that a draft makes.
struct Plan {
  // Only those that are new or differ.
  std::vector<Station> stations;
  // Only those that are new or differ.
  std::vector<Category> categories;
  company::ImportCounts station_counts, category_counts;
  std::vector<PlannedProduct> products;
  // Of a file: ids of rows that are stored below another parent than in the draft, and ids of the
  // products that lose them.
  std::unordered_set<std::string> moved, former_products;
};

// Reads only: usable in a snapshot and in the writer's transaction. Adds errors to `errors`; the
// plan is complete only if there are none. Refers to `draft`, which must outlive it. Throws
// Refusal(kNotFound) if the product or variant that the path names does not exist.
Plan MakePlan(db::Session& session, db::CompanyId company, const Draft& draft,
              json::Errors& errors);

// A Refusal(kNotFound) for the id of a `noun`, e.g. "product".
Refusal NoSuch(std::string_view noun, std::string_view id);

}  // namespace comanda::menu
