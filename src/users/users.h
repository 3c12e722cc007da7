#pragma once

// The face of the room: the company's staff.

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "db/session.h"

namespace comanda::users {

inline constexpr std::array<std::string_view, 7> kRoles = {"admin", "manager", "waiter", "rider",
                                                           "cook",  "sales",   "cashier"};

struct User {
  std::string id;
  std::string name;
  std::optional<std::string> email, country_calling_code, phone_number;
  std::string role;  // one of kRoles
  bool active = true;
  UtcMs created_at = 0;
  UtcMs updated_at = 0;
};

std::optional<User> Find(db::Session& session, db::CompanyId company, std::string_view id);

// Forgets all staff of a company: for the sandbox alone.
void EraseAll(db::Tx& tx, db::CompanyId company);

}  // namespace comanda::users
