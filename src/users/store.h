#pragma once

// All SQL of the room.

#include <optional>
#include <string_view>

#include "company/tally.h"
#include "db/session.h"
#include "users/draft.h"
#include "users/users.h"

namespace comanda::users {

std::optional<User> Select(db::Session& session, db::CompanyId company, std::string_view id);

// Writes the row where it is new or differs.
company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const Draft& draft,
                        const db::Stamp& stamp);

int64_t LastCreated(db::Session& session, db::CompanyId company);  // newest created_seq, or 0

}  // namespace comanda::users
