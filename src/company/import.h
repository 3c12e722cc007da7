#pragma once

// The company's own part of an import: profile, payment methods, tables.

#include <string>
#include <vector>

#include "company/company.h"
#include "company/tally.h"
#include "db/session.h"
#include "json/reader.h"

namespace comanda::company {

struct Draft {
  Company company;
  bool has_id = false;  // else it was derived from country and name
  std::string path;     // in the file: "companies[0]"
  size_t offset = 0;    // there
  std::vector<PaymentMethod> payment_methods;
  std::vector<Table> tables;
};

// Every wrong field is noted in the row's errors. The draft is complete where there are none.
Draft ReadDraft(json::ObjectReader& row);

// Notes what of the draft does not fit what is stored: another currency, codes that belong to other
// payment methods.
void Check(db::Session& session, const Draft& draft, json::Errors& errors);

struct Imported {
  db::CompanyId company_id;
  Tally company, payment_methods, tables;
};

// Inserts what is new, updates what differs, leaves the rest alone. Refusal where what the file
// says does not fit what is stored.
Imported Import(db::Tx& tx, const Draft& draft, const db::Stamp& stamp);

}  // namespace comanda::company
