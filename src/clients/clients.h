#pragma once

// Clients (the guests of the restaurant) and their addresses: the interface of this room. Functions
// with a Session or Tx run in the caller's transaction, and throw Fault on a database error.

#include <functional>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "clients/search.h"
#include "db/database.h"
#include "db/row_count.h"
#include "db/session.h"

namespace comanda::clients {

// One client, without addresses.
struct Client {
  std::string id;
  std::string name;
  std::optional<std::string> email, country_calling_code, phone_number;
  std::optional<std::string> document_type, document_number, notes;
  int64_t orders_count = 0;
  std::optional<UtcMs> last_order_at;
  UtcMs created_at = 0;
  UtcMs updated_at = 0;
  // The number in ITU-T E.164 form ("+51987654321"); nothing if the client has none (contract
  // section 19).
  std::optional<std::string> Phone() const;
};

// A delivery address of a client. Coordinates are decimal texts.
struct Address {
  std::string id;
  std::string client_id;
  std::string address;
  std::optional<std::string> area, city, reference, complement, latitude, longitude;
};

std::optional<Client> Find(db::Session& session, db::CompanyId company, std::string_view id);
std::optional<Address> FindAddress(db::Session& session, db::CompanyId company,
                                   std::string_view id);

// The addresses of one client, in order.
std::vector<Address> AddressesOf(db::Session& session, db::CompanyId company,
                                 std::string_view client_id);

// The ids of the clients who match all terms, those who ordered last first, at most `limit`.
std::vector<std::string> FindIds(db::Session& session, db::CompanyId company,
                                 const std::vector<Term>& terms, int64_t limit);

// Counts an order that was made at `at` in the client's orders_count and last_order_at. Called in
// the transaction that writes the order.
void NoteOrder(db::Tx& tx, db::CompanyId company, std::string_view client_id, UtcMs at,
               const db::Stamp& stamp);

// Fills the search index for clients stored by older versions, in transactions of bounded size.
// Blocks until done; `progress` is called after each transaction. Cheap if there is nothing to do.
// Called at start.
void MakeSearchable(
    db::Database& database, const std::function<void()>& progress = [] {});

// Deletes all clients of a company. For resetting the sandbox only.
void EraseAll(db::Tx& tx, db::CompanyId company);

// The clients that were created up to that created_seq, for `comanda drill`.
db::RowCount CountUpTo(db::Session& session, db::CompanyId company, int64_t last);

}  // namespace comanda::clients
