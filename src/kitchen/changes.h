#pragma once

// What GET /v1/kitchen/changes tells (contract section 20): the tickets of all orders that changed
// after a position of the event log, each once and as it is now, with the position that the page
// reaches, in one snapshot. Three statements, however many orders there are, unless long stretches
// of the log have no news for the kitchen.

#include <cstdint>
#include <string>
#include <string_view>

#include "db/session.h"
#include "events/cursor.h"
#include "kitchen/watch.h"

namespace comanda::kitchen {

struct Follow {
  std::string_view after;  // the cursor as it was sent; empty: from the oldest event kept
  int64_t per_page = 100;
  UtcMs now = 0;
};
// The body of the answer. Refusal invalid_parameter for a malformed cursor, cursor_expired.
std::string ReadChanges(db::Session& session, db::CompanyId company, const Follow& follow,
                        const Alerts& alerts);
// The body of an answer without tickets.
std::string NoChanges(std::string_view next, const Alerts& alerts);
bool IsWithoutTickets(std::string_view body);
// The cursor in the body of an answer without tickets.
std::string_view NextOfEmpty(std::string_view body);

}  // namespace comanda::kitchen
