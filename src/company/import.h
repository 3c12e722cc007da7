#pragma once

// The company itself as it is brought in: profile, payment methods, tables, of an import file
// (app/IMPORT.md) or as another system shows them. The other rooms bring in their own rows.

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

// Each writes what another system shows of a row (company/import_row.h); adds every field that
// cannot be taken to `errors`.
void ReadShown(json::Value record, PaymentMethod& method, json::Errors& errors);
void ReadShown(json::Value record, Table& table, json::Errors& errors);
// The same of a company's profile, without what identifies it: country, time zone and currency.
// Returns the fields that cannot be taken, which stay as they are.
std::vector<FieldError> ReadShown(json::Value record, Company& company);

// Adds an error for everything in the draft that contradicts the database: another currency, codes
// that belong to other payment methods.
void Check(db::Session& session, const Draft& draft, json::Errors& errors);

// What Import() has changed.
struct Imported {
  db::CompanyId company_id;
  ImportCounts company, payment_methods, tables;
};

// Writes one row where it differs. Throws Refusal if the code belongs to another payment method.
UpsertResult Put(db::Tx& tx, db::CompanyId company, const PaymentMethod& method);
UpsertResult Put(db::Tx& tx, db::CompanyId company, const Table& table);

// Inserts new rows, updates rows that differ, and leaves rows that the file does not mention.
// Throws Refusal if the draft contradicts the database.
Imported Import(db::Tx& tx, const Draft& draft, const db::Stamp& stamp);

}  // namespace comanda::company
