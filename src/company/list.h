#pragma once

// GET /v1/company/payment-methods: those that can be used, active and for at least one service type
// (specification, Company payment method; contract section 6).

#include "db/session.h"
#include "http/list.h"

namespace comanda::company {

// Refusal invalid_parameter where the query has one that the list does not know, or a malformed
// value.
void RequireListParameters(const http::Query& query);
http::ListPage FindPage(db::Session& session, db::CompanyId company, const http::Query& query,
                        http::PageRows& rows);

}  // namespace comanda::company
