#pragma once

// The import of users[] (app/IMPORT.md).

#include <string>
#include <vector>

#include "company/import_counts.h"
#include "db/session.h"
#include "json/reader.h"
#include "users/draft.h"

namespace comanda::users {

// Reads the users of a company's `row`; adds every invalid field to its errors. A row without an id
// gets one derived from its e-mail address, else its phone number, else its name.
std::vector<Draft> ReadDrafts(json::ObjectReader& row, const std::string& company_uuid);

// Inserts new users and updates those that differ. Users that the file does not mention stay.
// Throws Fault on a database error.
company::ImportCounts Import(db::Tx& tx, db::CompanyId company, const std::vector<Draft>& drafts,
                             const db::Stamp& stamp);

}  // namespace comanda::users
