#pragma once

// The lists of this room (contract sections 6 and 10). Each has two functions: one refuses what the
// query has no right to, and throws Refusal(kInvalidParameter) for an unknown parameter or a
// malformed value; the other adds the rows of the requested page to `rows`, and throws Fault on a
// database error.

#include "db/session.h"
#include "http/list.h"

namespace comanda::company {

// GET /v1/company/payment-methods: the usable methods, i.e. those active and allowed for at least
// one service type (specification, Company payment method).
void RequirePaymentMethodParameters(const http::Query& query);
http::ListPage FindPaymentMethods(db::Session& session, db::CompanyId company,
                                  const http::Query& query, http::PageRows& rows);

// GET /v1/company/tables: all tables, by name.
void RequireTableParameters(const http::Query& query);
http::ListPage FindTables(db::Session& session, db::CompanyId company, const http::Query& query,
                          http::PageRows& rows);

}  // namespace comanda::company
