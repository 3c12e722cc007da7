#pragma once

#include <optional>
#include <string>

namespace comanda::users {

// A row of users[] in an import file.
struct Draft {
  std::string id;
  std::string name;
  std::optional<std::string> email, country_calling_code, phone_number;
  std::string role;
  bool active = true;
};

}  // namespace comanda::users
