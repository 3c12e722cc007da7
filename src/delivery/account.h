#pragma once

// A company's account in an app: who calls, with what, and whom it may reach.

#include <memory>
#include <optional>
#include <string>

#include "company/company.h"
#include "config/options.h"
#include "crypto/authorities.h"
#include "delivery/credentials.h"
#include "delivery/provider.h"
#include "delivery/status/rules.h"
#include "net/call.h"

namespace comanda::delivery {

struct Account {
  std::shared_ptr<const Provider> provider;
  company::Company company;
  Variables credentials;  // the provider's (credentials.h)
  std::shared_ptr<const crypto::Authorities> authorities;
  net::AddressCheck allows_address;
};

// Nothing where it has no credentials; `why`, if given, then says so. An app is reached at public
// addresses, and at those of the setting webhook_networks. Fault on an I/O error. Any thread.
std::optional<Account> FindAccount(const config::Options& options, company::Company company,
                                   std::shared_ptr<const Provider> provider,
                                   std::shared_ptr<const crypto::Authorities> authorities,
                                   std::string* why = nullptr);

}  // namespace comanda::delivery
