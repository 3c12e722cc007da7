#pragma once

// Imports restaurants from a JSON document (contract section 10). Its format is described in
// app/IMPORT.md.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "db/database.h"
#include "menu/product.h"

namespace comanda::app {

// The numbers of rows of one kind that were inserted, updated and left as they were.
struct ImportCounts {
  std::string_view kind;  // the name of the list in the document
  int inserted = 0;
  int updated = 0;
  int unchanged = 0;
};

struct CompanySummary {
  std::string id;
  std::string name;
  std::vector<ImportCounts> counts;
  // Products that the menu shows and the document does not mention (menu::FindLeftOut).
  std::vector<menu::ShownProduct> left_out;
};

struct ImportSummary {
  std::vector<CompanySummary> companies;
};

// What to do with a company of the document that has no id and whose name no stored company has:
// refuse it, since it may be a stored one that was renamed, or add it. The first company of a
// database is always added.
enum class NewCompanies : uint8_t { kByIdAlone, kTaken };

// Writes the whole document in one transaction, or nothing. Blocks for the writer. Throws Refusal
// with the path and line of every wrong field (at most kFieldErrorsMax), what the database throws.
// Any thread.
ImportSummary Import(db::Database& database, std::string_view document,
                     NewCompanies new_companies = NewCompanies::kByIdAlone);

// Deletes the orders, events and idempotency answers of a company of the sandbox. The menu,
// clients, users, tables and orders of the demo restaurant are brought in again; those of other
// companies stay.
void ResetSandbox(db::Tx& tx, db::CompanyId company, std::string_view company_uuid,
                  const db::Stamp& stamp);

// Imports the demo restaurant, and places its two orders (app/demo_orders.h) if they never were.
ImportSummary ImportDemo(db::Database& database,
                         NewCompanies new_companies = NewCompanies::kByIdAlone);

}  // namespace comanda::app
