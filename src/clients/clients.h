#pragma once

// The face of the room: guests and their addresses.

#include <functional>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "db/database.h"
#include "db/session.h"

namespace comanda::clients {

struct Client {
  std::string id;
  std::string name;
  std::optional<std::string> email, country_calling_code, phone_number;
  std::optional<std::string> document_type, document_number, notes;
  int64_t orders_count = 0;
  std::optional<UtcMs> last_order_at;
  UtcMs created_at = 0;
  UtcMs updated_at = 0;
  // E.164 ("+51987654321"), null where there is no number (contract section 19).
  std::optional<std::string> Phone() const;
};

struct Address {
  std::string id;
  std::string client_id;
  std::string address;
  std::optional<std::string> area, city, reference, complement, latitude,
      longitude;  // decimal texts
};

std::optional<Client> Find(db::Session& session, db::CompanyId company, std::string_view id);
std::optional<Address> FindAddress(db::Session& session, db::CompanyId company,
                                   std::string_view id);

// An order of this client was placed.
void NoteOrder(db::Tx& tx, db::CompanyId company, std::string_view client_id, UtcMs at);

// Makes what clients are found by where a migration has left that to the program, in jobs of a
// bounded size. Nothing to do costs next to nothing.
void MakeSearchable(
    db::Database& database, const std::function<void()>& progress = [] {});

// Forgets every client of a company: for the sandbox alone.
void EraseAll(db::Tx& tx, db::CompanyId company);

}  // namespace comanda::clients
