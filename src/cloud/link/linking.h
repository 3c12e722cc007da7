#pragma once

// Links a company with its counterpart in the cloud: finds out whether the key suffices and the
// company is the same kind of business, and stores key and link. On a box without a restaurant it
// makes the restaurant from the cloud's company.

#include <optional>
#include <stop_token>
#include <string>

#include "cloud/link/client.h"
#include "cloud/link/link.h"
#include "cloud/restaurant/restaurant.h"
#include "config/options.h"
#include "db/database.h"
#include "net/network.h"

namespace comanda::cloud {

// What `comanda cloud link` is given.
struct LinkOrder {
  std::string url, ca_file, key;
  std::optional<std::string> company_uuid;            // which restaurant; nothing: the only one
  std::optional<std::string> since;                   // YYYY-MM-DD, in the company's time zone
  std::optional<std::string> timezone, country_code;  // where the cloud does not tell
};

// Where and how the cloud is asked: the settings replace what the link was told. Refusal where the
// authorities cannot be used; Fault where their file cannot be read.
Target TargetOf(const config::Options& options, const std::string& url, const std::string& ca_file,
                const std::string& key);

struct LinkingSettings {
  const config::Options& options;
  const Clock& clock;
  db::Database& database;
  net::Network& network;
};

struct LinkResult {
  db::CompanyId company;
  Link link;
  bool was_created = false;  // the restaurant
  bool goes_on = false;      // the same company was linked before: its journal goes on
};

// Blocks for some twenty requests. Throws Refusal that says what is wrong: the cloud cannot be
// reached, scopes that the key lacks, another currency or time zone, another link. Any thread but
// the network's.
LinkResult MakeLink(const LinkingSettings& settings, const LinkOrder& order,
                    const std::stop_token& stop = {});

}  // namespace comanda::cloud
