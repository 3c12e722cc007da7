#pragma once

// Decides what a draft does to the stored menu: which rows are created, updated or left alone. All
// checks that need the database are here, and all run before anything is written, so that every bad
// row is listed.

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/problem.h"
#include "company/tally.h"
#include "db/session.h"
#include "json/reader.h"
#include "menu/draft.h"
#include "menu/merge.h"
#include "menu/product.h"

namespace comanda::menu {

// A product of the draft.
struct PlannedProduct {
  const Product* sent;
  // As it is stored, and as it shall be. Modifiers are loaded in both or in neither.
  std::optional<Product> before;
  Product after;
  Targets targets;  // of the sent variants
};

struct Plan {
  std::vector<Station> stations;     // new or different
  std::vector<Category> categories;  // new or different
  company::Tally station_tally, category_tally;
  std::vector<PlannedProduct> products;
  // Of a file: ids of rows that are stored below another parent than the draft has them, and the
  // products that they leave.
  std::unordered_set<std::string> moved, losers;
};

// Reads alone: in a snapshot or in the writer's transaction. What is wrong is added to the errors;
// the plan is complete where there are none. The draft outlives it. Refusal not_found where the
// product or variant of the path is not stored.
Plan MakePlan(db::Session& session, db::CompanyId company, const Draft& draft,
              json::Errors& errors);

Refusal NoSuch(std::string_view noun, std::string_view id);

}  // namespace comanda::menu
