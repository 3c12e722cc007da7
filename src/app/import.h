#pragma once

// Restaurants from a JSON file (contract section 10; the format: app/IMPORT.md).

#include <string>
#include <string_view>
#include <vector>

#include "db/database.h"

namespace comanda::app {

// What became of the rows of one kind.
struct ImportCounts {
  std::string_view kind;  // as the list is called in the file
  int inserted = 0;
  int updated = 0;
  int unchanged = 0;
};

struct CompanySummary {
  std::string id;
  std::string name;
  std::vector<ImportCounts> counts;
};

struct ImportSummary {
  std::vector<CompanySummary> companies;
};

// Reads the whole document and checks its menus against what is stored: a Refusal names every wrong
// field with its path and line (at most kFieldErrorsMax), and nothing is written. Then one
// transaction for each company, in order: where one does not fit what is stored, it is refused, and
// those before it stay.
ImportSummary Import(db::Database& database, std::string_view document);

// Puts a company of the sandbox back to its beginning: no orders, events and answers; the demo
// restaurant's menu, people and tables as in its file, another company's as they are.
void ResetSandbox(db::Tx& tx, db::CompanyId company, std::string_view company_id,
                  const db::Stamp& stamp);

// The demo restaurant, as such a document.
std::string_view DemoRestaurant();

}  // namespace comanda::app
