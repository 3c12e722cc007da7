#pragma once

// What the QR code of a pairing code says in front of the code (contract section 3).

#include <optional>
#include <string>

#include "auth/roles.h"
#include "http/site.h"

namespace comanda::app {

// A page for a browser ("https://ADDRESS:PORT/kitchen#c=": behind # no log sees the code), else,
// for roles without a page and without a role, a text for programs ("comanda://pair?…&c=").
// `address`: where the device reaches the box; else the address at which the running server serves
// the environment, with the machine's own where that is any; where no server runs, that of the
// settings. Reads the certificates' directory. Refusal where the machine has no address in a
// network, the sandbox is off, or the authority cannot be read.
std::string PairingUri(const http::Site& site, std::optional<auth::Role> role,
                       const std::optional<std::string>& address);

}  // namespace comanda::app
