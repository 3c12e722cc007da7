#pragma once

// Users that are brought in: users[] of an import file (app/IMPORT.md), or as another system shows
// them.

#include <string>
#include <vector>

#include "company/import_counts.h"
#include "db/session.h"
#include "json/reader.h"
#include "users/users.h"

namespace comanda::users {

// Reads the users of a company's `row`; adds every invalid field to its errors. A row without an id
// gets one derived from its e-mail address, else its phone number, else its name.
std::vector<User> ReadFile(json::ObjectReader& row, const std::string& company_uuid);
// Writes what another system shows of a user (company/import_row.h); adds every field that cannot
// be taken to `errors`.
void ReadShown(json::Value record, User& user, json::Errors& errors);

// Inserts new users and updates those that differ. Users that are not among them stay. Throws Fault
// on a database error.
company::ImportCounts Import(db::Tx& tx, db::CompanyId company, const std::vector<User>& users,
                             const db::Stamp& stamp);

}  // namespace comanda::users
