#pragma once

// GET /v1/orders: filters, sorts, totals (contract section 7, Listing; section 6).

#include <string>
#include <vector>

#include "db/session.h"
#include "http/list.h"
#include "http/query.h"

namespace comanda::orders {

// Refusal invalid_parameter where the query has one that the list does not know.
void RequireListParameters(const http::Query& query);

struct Page : http::ListPage {
  std::string cursor;  // X-Event-Cursor of the same moment
  // Of orders that are left out: their rows and their stored records are damaged. The total counts
  // them.
  std::vector<std::string> damage;
  std::vector<std::string> remade;  // ids of orders whose stored record is damaged
};
// Refusal invalid_parameter for a malformed value.
Page FindPage(db::Session& session, db::CompanyId company, const http::Query& query,
              http::PageRows& rows);

}  // namespace comanda::orders
