#pragma once

// GET /v1/clients: search, filters, sorts and totals (contract sections 6 and 10).

#include <vector>

#include "clients/search.h"
#include "db/session.h"
#include "http/list.h"

namespace comanda::clients {

// The terms of filter[search]; none without the parameter. Throws Refusal(kInvalidParameter) for a
// text without letters and digits, or of too many words.
std::vector<Term> ReadSearch(const http::Query& query);

// Throws Refusal(kInvalidParameter) for an unknown parameter.
void RequireListParameters(const http::Query& query);
// Adds the rows of the requested page to `rows`. Throws Refusal(kInvalidParameter) for a malformed
// value.
http::ListPage FindPage(db::Session& session, db::CompanyId company, const http::Query& query,
                        http::PageRows& rows);

}  // namespace comanda::clients
