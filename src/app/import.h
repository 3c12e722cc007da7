#pragma once

// Restaurants from a JSON file (contract section 10; the format: app/IMPORT.md).

#include <cstdint>
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

// Whether a company without an id that none of the stored ones has may be made beside them. It may
// be one that was renamed, or that was to take the demo restaurant's place.
enum class NewCompanies : uint8_t { kByIdAlone, kTaken };

// Reads the whole document and checks it against what is stored: a Refusal names every wrong field
// with its path and line (at most kFieldErrorsMax). Then all of it is written in one transaction,
// or nothing.
ImportSummary Import(db::Database& database, std::string_view document,
                     NewCompanies new_companies = NewCompanies::kByIdAlone);

// Puts a company of the sandbox back to its beginning: no orders, events and answers; the demo
// restaurant's menu, people and tables as in its file, another company's as they are.
void ResetSandbox(db::Tx& tx, db::CompanyId company, std::string_view company_id,
                  const db::Stamp& stamp);

// The demo restaurant, as such a document.
std::string_view DemoRestaurant();

}  // namespace comanda::app
