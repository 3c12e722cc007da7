#pragma once

// A page of GET /v1/kitchen/tickets (contract section 20). All tickets that can match are read and
// derived, then filtered, sorted and cut: they are those of some hours.

#include <optional>
#include <string>

#include "db/session.h"
#include "http/list.h"

namespace comanda::kitchen {

// Refusal invalid_parameter if the query has a parameter that the list does not know.
void RequireListParameters(const http::Query& query);

struct Page : http::ListPage {
  std::string cursor;  // X-Event-Cursor, of the snapshot of the rows
  // When time alone may change the list; nothing: it will not.
  std::optional<UtcMs> next_moment;
};
// Adds the page's tickets to `rows`. Refusal invalid_parameter for a value that cannot be read.
Page FindPage(db::Session& session, db::CompanyId company, const http::Query& query, UtcMs now,
              http::PageRows& rows);

// A comma list of UUIDs, such as stations; nothing where the query does not have it. Refusal
// invalid_parameter.
std::optional<std::vector<std::string>> ReadIds(const http::Query& query, std::string_view name);

}  // namespace comanda::kitchen
