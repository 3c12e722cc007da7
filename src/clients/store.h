#pragma once

// All SQL of the room.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clients/clients.h"
#include "clients/draft.h"
#include "clients/search.h"
#include "company/tally.h"
#include "db/clause_builder.h"
#include "db/session.h"

namespace comanda::clients {

std::optional<Client> Select(db::Session& session, db::CompanyId company, std::string_view id);
std::optional<Address> SelectAddress(db::Session& session, db::CompanyId company,
                                     std::string_view id);
void CountOrder(db::Tx& tx, db::CompanyId company, std::string_view client_id, UtcMs at);

// Of one client, in order.
std::vector<Address> SelectAddresses(db::Session& session, db::CompanyId company,
                                     std::string_view client_id);
// created_seq of the newest, 0 where there is none: also how many there are.
int64_t LastCreated(db::Session& session, db::CompanyId company);

// A list of clients is put together from one of these bases, conditions on the client `c`, a sort
// and a page. The bases with a term read the clients that match it, by the index of words and the
// one of phone numbers, instead of all: their time depends on how many match.
db::ClauseBuilder PageOf(db::CompanyId company, const Term* term);   // SelectPage reads its rows
db::ClauseBuilder CountOf(db::CompanyId company, const Term* term);  // Session::GetInt reads it
void AndMatches(db::ClauseBuilder& sql, const Term& term);
// The whole number, with or without its calling code. `reversed`: the digits, the last one first.
void AndHasPhone(db::ClauseBuilder& sql, std::string_view digits, std::string_view reversed);

struct Listed {
  Client client;
  std::vector<Address> addresses;
};
std::vector<Listed> SelectPage(db::Session& session, db::CompanyId company,
                               const db::ClauseBuilder& sql);

// Clients of any company without what they are found by.
bool AnyUnsearchable(db::Session& session);
void IndexUnsearchable(db::Tx& tx, int limit);

// Write the row where it is new or differs; the client's without its addresses.
company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const Draft& draft,
                        const db::Stamp& stamp);
company::Outcome Upsert(db::Tx& tx, db::CompanyId company, const Address& address, int position);
// An address changed: the client's record did too.
void Touch(db::Tx& tx, db::CompanyId company, std::string_view client_id, const db::Stamp& stamp);

}  // namespace comanda::clients
