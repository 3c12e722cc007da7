#pragma once

// The face of the room: the company's staff, as far as orders refer to them.

#include <optional>
#include <string>
#include <string_view>

#include "db/session.h"

namespace comanda::users {

struct User {
  std::string id;
  std::string name;
  std::optional<std::string> country_calling_code, phone_number;
  std::string role;  // admin manager waiter rider cook sales cashier
  bool active = true;
};

std::optional<User> Find(db::Session& session, db::CompanyId company, std::string_view id);

}  // namespace comanda::users
