#pragma once

// GET /v1/users: filters, sorts, totals (contract sections 6 and 10).

#include "db/session.h"
#include "http/list.h"

namespace comanda::users {

// Refusal invalid_parameter where the query has one that the list does not know.
void RequireListParameters(const http::Query& query);
// Refusal invalid_parameter for a malformed value.
http::ListPage FindPage(db::Session& session, db::CompanyId company, const http::Query& query,
                        http::PageRows& rows);

}  // namespace comanda::users
