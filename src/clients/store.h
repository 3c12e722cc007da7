#pragma once

// All SQL of this room. Functions throw Fault on a database error.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clients/clients.h"
#include "clients/search.h"
#include "company/import_counts.h"
#include "db/clause_builder.h"
#include "db/session.h"

namespace comanda::clients {

std::optional<Client> Select(db::Session& session, db::CompanyId company, std::string_view id);
std::optional<Address> SelectAddress(db::Session& session, db::CompanyId company,
                                     std::string_view id);
// Adds one to orders_count and sets last_order_at.
void CountOrder(db::Tx& tx, db::CompanyId company, std::string_view client_id, UtcMs at, UtcMs now);

// The addresses of one client, in order.
std::vector<Address> SelectAddresses(db::Session& session, db::CompanyId company,
                                     std::string_view client_id);
// The largest created_seq, or 0. Clients are numbered without gaps, so it is also their number.
int64_t LastCreated(db::Session& session, db::CompanyId company);

// A list is composed of one of these two starts, conditions on the client `c`, a sort and a page.
// With a term, the statement reads only the clients that match it, through the index of words and
// that of phone numbers; its cost depends on the number of matches.
//
// SelectPage() reads the rows of PageOf(), Session::GetInt() the result of CountOf().
db::ClauseBuilder PageOf(db::CompanyId company, const Term* term);
db::ClauseBuilder CountOf(db::CompanyId company, const Term* term);
// Appends the condition that the client matches a further term.
void AndMatches(db::ClauseBuilder& sql, const Term& term);
// Appends the condition that the client has one of these numbers.
void AndHasPhone(db::ClauseBuilder& sql, const PhoneTwins& phone);

// A row of the list.
struct Listed {
  Client client;
  std::vector<Address> addresses;
};
std::vector<Listed> SelectPage(db::Session& session, db::CompanyId company,
                               const db::ClauseBuilder& sql);

// True if a client of any company is not in the search index yet.
bool AnyUnsearchable(db::Session& session);
// Indexes at most `limit` of those clients.
void IndexUnsearchable(db::Tx& tx, int limit);

// Inserts the row if it is new, updates it if it differs. The first writes the client without its
// addresses.
company::UpsertResult Upsert(db::Tx& tx, db::CompanyId company, const Client& client,
                             const db::Stamp& stamp);
company::UpsertResult Upsert(db::Tx& tx, db::CompanyId company, const Address& address,
                             int position);
// Gives the client a new updated_at, after a change of an address.
void Touch(db::Tx& tx, db::CompanyId company, std::string_view client_id, const db::Stamp& stamp);

}  // namespace comanda::clients
