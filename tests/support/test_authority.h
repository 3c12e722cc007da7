#pragma once

// A certificate authority for tests, which may issue for every name and address that they use.

#include "crypto/certificate.h"

namespace comanda::testing {

inline crypto::Authority MakeTestAuthority(UtcMs now) {
  return crypto::MakeAuthority("Test", crypto::AuthorityFrom(now),
                               {.dns_names = {"localhost", "local"}, .ranges = {"127.0.0.0/8"}});
}

}  // namespace comanda::testing
