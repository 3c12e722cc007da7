#pragma once

// The two orders of the demo restaurant, of which the examples of the API's document speak: their
// ids are written there (web/openapi.json).

#include "company/company.h"
#include "db/session.h"

namespace comanda::app {

// Places those that were never placed; others stay as they are. Refusal where the restaurant lacks
// what they need: it is not the demo restaurant.
void PlaceDemoOrders(db::Tx& tx, const company::Company& company, const db::Stamp& stamp);

}  // namespace comanda::app
