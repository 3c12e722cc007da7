#pragma once

#include <optional>
#include <string>
#include <vector>

#include "clients/clients.h"

namespace comanda::clients {

// A row of clients[] in an import file, validated, with its addresses in the order of the file.
struct Draft {
  std::string id;
  std::string name;
  std::optional<std::string> email, country_calling_code, phone_number;
  std::optional<std::string> document_type, document_number, notes;
  std::vector<Address> addresses;
};

}  // namespace comanda::clients
