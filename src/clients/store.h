#pragma once

// All SQL of the room.

#include <optional>
#include <string_view>

#include "clients/clients.h"
#include "clients/draft.h"
#include "company/tally.h"
#include "db/session.h"

namespace comanda::clients {

std::optional<Client> Select(db::Session& session, db::CompanyId company, std::string_view id);
std::optional<Address> SelectAddress(db::Session& session, db::CompanyId company,
                                     std::string_view id);
void CountOrder(db::Tx& tx, db::CompanyId company, std::string_view client_id, UtcMs at);

// Write the row where it is new or differs; the client's without its addresses.
company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const Draft& draft,
                        const db::Stamp& stamp);
company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const Address& address, int position);
// An address changed: the client's record did too.
void Touch(db::Tx& tx, db::CompanyId company, std::string_view client_id, const db::Stamp& stamp);

}  // namespace comanda::clients
