#pragma once

// The wire form of clients (contract section 10).

#include <string>
#include <vector>

#include "clients/clients.h"

namespace comanda::clients {

std::string Render(const Client& client, const std::vector<Address>& addresses);

}  // namespace comanda::clients
