#pragma once

// GET /v1/users: filters, sorts and totals (contract sections 6 and 10). Rows are sorted by name
// unless the query says otherwise; filter[role] and filter[active] select.

#include "db/session.h"
#include "http/list.h"

namespace comanda::users {

// Throws Refusal(kInvalidParameter) for an unknown parameter.
void RequireListParameters(const http::Query& query);
// Adds the rows of the requested page to `rows`. Throws Refusal(kInvalidParameter) for a malformed
// value, and Fault(kDamaged) if the list and the table disagree.
http::ListPage FindPage(db::Session& session, db::CompanyId company, const http::Query& query,
                        http::PageRows& rows);

}  // namespace comanda::users
