#include "delivery/account.h"

#include <utility>

#include "webhooks/address_rules.h"

namespace comanda::delivery {

std::optional<Account> FindAccount(const config::Options& options, company::Company company,
                                   std::shared_ptr<const Provider> provider,
                                   std::shared_ptr<const crypto::Authorities> authorities,
                                   std::string* why) {
  auto credentials = FindCredentials({options.data_directory, company.id}, *provider, why);
  if (!credentials) return std::nullopt;
  const auto networks =
      std::make_shared<const webhooks::Networks>(webhooks::LookAtMachine(options.webhook_networks));
  return Account{.provider = std::move(provider),
                 .company = std::move(company),
                 .credentials = *std::move(credentials),
                 .authorities = std::move(authorities),
                 .allows_address = [networks](std::string_view address) {
                   return !webhooks::WhyRefused(*networks, address, true);
                 }};
}

}  // namespace comanda::delivery
