#pragma once

// All SQL of the room.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clients/client_set.h"
#include "clients/clients.h"
#include "clients/draft.h"
#include "company/tally.h"
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

// Adds those of whom a word begins so, or whose phone number ends so (reversed). False where there
// are more than `most` of them, and some are missing.
bool AddByWord(db::Session& session, db::CompanyId company, std::string_view beginning,
               ClientSet& set, int64_t most = INT64_MAX);
bool AddByPhone(db::Session& session, db::CompanyId company, std::string_view reversed_end,
                ClientSet& set, int64_t most = INT64_MAX);

// What one of them is found by.
struct Findable {
  std::vector<std::string> words;
  std::string phone_reversed;
};
Findable SelectFindable(db::Session& session, db::CompanyId company, int64_t created_seq);

// Adds those with that number, with or without its calling code.
void AddByWholePhone(db::Session& session, db::CompanyId company, std::string_view digits,
                     ClientSet& set);
void AddByEmail(db::Session& session, db::CompanyId company, std::string_view email,
                ClientSet& set);
// Adds those that were created then, `to` excluded; or changed since.
void AddCreated(db::Session& session, db::CompanyId company, UtcMs from, UtcMs to, ClientSet& set);
void AddUpdated(db::Session& session, db::CompanyId company, UtcMs since, ClientSet& set);

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
