#pragma once

// A user as an import file describes it.

#include <optional>
#include <string>

namespace comanda::users {

// A row of users[] in an import file, validated. E-mail and phone number are as
// company/import_row.h reads them; `role` is one of kRoles (users/users.h).
struct Draft {
  std::string id;
  std::string name;
  std::optional<std::string> email, country_calling_code, phone_number;
  std::string role;
  bool active = true;
};

}  // namespace comanda::users
