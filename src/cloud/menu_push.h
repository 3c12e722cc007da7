#pragma once

// Menu rows that were changed at this box are pushed to the cloud before its menu is read again
// (contract section 15.5): PUT /v1/menu/products with one product a step, under the cloud's ids
// (aliases), matched by sku where there is none. Edited on both sides since the last reading: the
// push wins, and a difference "menu" names both versions.
//
// Steps of the menu are in the journal under an empty order id, kind kMenu.

#include <cstdint>
#include <string_view>
#include <vector>

#include "cloud/step.h"
#include "db/session.h"
#include "events/log.h"

namespace comanda::cloud {

// Plans the push of the products that an event of the log names, in the caller's transaction.
// Events that the sync itself has caused (cloud_own_event) are skipped, and forgotten. The number
// of new steps.
size_t PlanMenu(db::Tx& tx, db::CompanyId company, const events::StoredEvent& event,
                const db::Stamp& stamp);

// The cloud has accepted the step: its answer names the ids of new products, which become aliases.
void TakePushed(db::Tx& tx, db::CompanyId company, const Step& step, std::string_view answer,
                const db::Stamp& stamp);

// Ids here of the products that wait for their push.
std::vector<std::string> WaitingProducts(db::Session& session, db::CompanyId company);

}  // namespace comanda::cloud
