#pragma once

// The face of the room: guests and their addresses, as far as orders refer to them.

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "db/session.h"

namespace comanda::clients {

struct Client {
  std::string id;
  std::string name;
  std::optional<std::string> email, country_calling_code, phone_number;
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

}  // namespace comanda::clients
