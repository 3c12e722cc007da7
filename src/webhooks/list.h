#pragma once

// GET /v1/webhooks and GET /v1/webhooks/{id}/deliveries: filters, sorts and totals (contract
// sections 6 and 13).

#include <string_view>

#include "db/session.h"
#include "http/list.h"

namespace comanda::webhooks {

// Throw Refusal(kInvalidParameter) for an unknown parameter.
void RequireListParameters(const http::Query& query);
void RequireDeliveryParameters(const http::Query& query);

// Add the rows of the requested page to `rows`, and what is wrong with those that are left out
// because they are damaged to `damage`. Throw Refusal(kInvalidParameter) for a malformed value.
http::ListPage FindPage(db::Session& session, db::CompanyId company, const http::Query& query,
                        http::PageRows& rows, std::vector<std::string>& damage);
http::ListPage FindDeliveries(db::Session& session, db::CompanyId company,
                              std::string_view webhook_id, const http::Query& query,
                              bool shows_answers, http::PageRows& rows,
                              std::vector<std::string>& damage);

}  // namespace comanda::webhooks
