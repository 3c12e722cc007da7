#pragma once

// The certificate authorities that receivers of outgoing calls may have.

#include <memory>
#include <string>

#include "crypto/authorities.h"

namespace comanda::net {

// The system's, and those of one more file (PEM), if it is named. What cannot be read or used is
// logged; null where nothing is left. Blocks for the time it takes to read them. Any thread.
std::shared_ptr<const crypto::Authorities> OutgoingAuthorities(const std::string& more_file);

}  // namespace comanda::net
