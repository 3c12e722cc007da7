#pragma once

// GET /v1/company/payment-methods: the usable methods, i.e. those active and allowed for at least
// one service type (specification, Company payment method; contract section 6).

#include "db/session.h"
#include "http/list.h"

namespace comanda::company {

// Throws Refusal(kInvalidParameter) for an unknown parameter or a malformed value.
void RequireListParameters(const http::Query& query);
// Adds the rows of the requested page to `rows`. Throws Fault on a database error.
http::ListPage FindPage(db::Session& session, db::CompanyId company, const http::Query& query,
                        http::PageRows& rows);

}  // namespace comanda::company
