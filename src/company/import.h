#pragma once

// The import of the company itself: profile, payment methods, tables (app/IMPORT.md). The other
// rooms import their own rows.

#include <string>
#include <vector>

#include "company/company.h"
#include "company/import_counts.h"
#include "db/session.h"
#include "json/reader.h"

namespace comanda::company {

// One row of companies[] in an import file, validated.
struct Draft {
  Company company;
  // False: the file has no id, and it was derived from country and name.
  bool has_id = false;
  // Where the row is in the file: its path ("companies[0]") and byte offset.
  std::string path;
  size_t offset = 0;
  std::vector<PaymentMethod> payment_methods;
  std::vector<Table> tables;
};

// Adds every invalid field to the errors of `row`. The draft is usable only if there are none.
// `stored`: the companies of the database. A company keeps its time zone also while the system has
// no data for it; a new zone needs data.
Draft ReadDraft(json::ObjectReader& row, const std::vector<Company>& stored);

// Adds an error for everything in the draft that contradicts the database: another currency, codes
// that belong to other payment methods.
void Check(db::Session& session, const Draft& draft, json::Errors& errors);

// What Import() has changed.
struct Imported {
  db::CompanyId company_id;
  ImportCounts company, payment_methods, tables;
};

// Inserts new rows, updates rows that differ, and leaves rows that the file does not mention.
// Throws Refusal if the draft contradicts the database.
Imported Import(db::Tx& tx, const Draft& draft, const db::Stamp& stamp);

}  // namespace comanda::company
