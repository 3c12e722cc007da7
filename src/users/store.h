#pragma once

// All SQL of this room, and EraseAll() of users/users.h. Functions throw Fault on a database error.

#include <optional>
#include <string_view>
#include <vector>

#include "company/import_counts.h"
#include "db/session.h"
#include "users/users.h"

namespace comanda::users {

// The user with this id in this company.
std::optional<User> Select(db::Session& session, db::CompanyId company, std::string_view id);
// The start of a list of the users `s`, and the rows that it selects.
db::ClauseBuilder PageOf(db::CompanyId company);
std::vector<User> SelectPage(db::Session& session, const db::ClauseBuilder& sql);

// Inserts the row if it is new, updates it if it differs. A new row gets the next created_seq.
company::UpsertResult Upsert(db::Tx& tx, db::CompanyId company, const User& user,
                             const db::Stamp& stamp);

// The largest created_seq of the company, or 0: the snapshot of a list (contract section 6).
int64_t LastCreated(db::Session& session, db::CompanyId company);

}  // namespace comanda::users
