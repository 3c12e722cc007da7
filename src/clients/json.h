#pragma once

// Clients as JSON (contract section 10).

#include <string>
#include <vector>

#include "clients/clients.h"

namespace comanda::clients {

// The record as answers show it.
std::string Render(const Client& client, const std::vector<Address>& addresses);

}  // namespace comanda::clients
