#pragma once

// Brings the restaurant's own records from the cloud: company, payment methods, tables, users and
// clients every hour, the menu every 5 minutes (contract section 15.4, 15.5). The cloud is their
// authority. Its rows are translated into an import document (app/IMPORT.md) under the ids of this
// box, and imported as a file would be: validated, merged, with the events of a change.
//
// Rows are paired once (aliases): by id, else by code (payment methods), sku (variants), e-mail,
// phone, then name (users, clients, tables, categories, products). Rows that only one side has:
// those of the cloud are added here, under the cloud's id where it is a UUID; those of the box
// stay, and are counted as unpaired.
//
// A product that the cloud's whole menu lacks becomes invisible. The stock of a variant is the
// cloud's count less what this box has sold and the cloud has not acknowledged yet: the quantities
// of items in steps that wait. A product that was changed here and not pushed yet
// (cloud/menu_push.h) is not touched.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "cloud/line.h"
#include "cloud/link.h"
#include "db/database.h"

namespace comanda::cloud {

struct RestaurantSettings {
  db::Database& database;
  const Clock& clock;
  // Imports a document (app::Import); throws Refusal with every wrong field.
  std::function<void(const std::string& document)> import;
};

// Used by the worker's thread alone, except where a method says otherwise.
class Restaurant {
 public:
  explicit Restaurant(RestaurantSettings settings);

  // The ms until Read() has something to do; 0: now. By the progress that the link keeps.
  int64_t DueInMs(const Linked& linked) const;
  // Reads what is due, one part after the other; each is stored with its visit. Throws Interrupted
  // (line.h) and what the database throws. Rows that the import refuses are left out, logged, and
  // recorded as a difference "menu" or "link".
  void Read(const Linked& linked, Line& line);
};

// The rows of this box that have no counterpart in the cloud, by kind ("clients": 3): counted from
// the aliases. Any thread.
std::map<std::string, int64_t> CountUnpaired(db::Session& session, db::CompanyId company);
// Those rows by kind and name, at most `limit`, for `comanda cloud link`. Any thread.
std::multimap<std::string, std::string> ListUnpaired(db::Session& session, db::CompanyId company,
                                                     int limit);

}  // namespace comanda::cloud
