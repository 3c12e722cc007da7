#pragma once

// A page of GET /v1/orders (contract section 7, Listing; section 6): reads the parameters, and puts
// the records of the page together. The SQL is in orders/list_store.h.

#include <string>
#include <vector>

#include "db/session.h"
#include "http/list.h"
#include "http/query.h"

namespace comanda::orders {

// Refusal invalid_parameter if the query has a parameter that the list does not know.
void RequireListParameters(const http::Query& query);

struct Page : http::ListPage {
  std::string cursor;  // X-Event-Cursor, read in the same snapshot as the rows
  // A message for each order that the page lacks, because its rows and its stored record are
  // damaged. The total counts these orders.
  std::vector<std::string> damage;
  std::vector<std::string> remade;  // ids of orders whose stored record is damaged
};
// Adds the page's records to `rows`. Refusal invalid_parameter for a value that cannot be read.
Page FindPage(db::Session& session, db::CompanyId company, const http::Query& query, UtcMs now,
              http::PageRows& rows);

}  // namespace comanda::orders
