#pragma once

// Users (the staff of the restaurant): the interface of this room. Users do not sign in here;
// orders refer to them, e.g. as riders. Functions run in the caller's transaction, and throw Fault
// on a database error.

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "db/session.h"

namespace comanda::users {

// The roles of the specification, Users.
inline constexpr std::array<std::string_view, 7> kRoles = {"admin", "manager", "waiter", "rider",
                                                           "cook",  "sales",   "cashier"};

// One member of the staff. E-mail and phone number are as company/import_row.h reads them.
struct User {
  std::string id;
  std::string name;
  std::optional<std::string> email, country_calling_code, phone_number;
  // One of kRoles.
  std::string role;
  // False for former staff, to whom old orders still refer.
  bool active = true;
  // The first import of this user, and the last one that changed it.
  UtcMs created_at = 0;
  UtcMs updated_at = 0;
};

// Nothing for an unknown id, and for a user of another company.
std::optional<User> Find(db::Session& session, db::CompanyId company, std::string_view id);

// Deletes all users of a company. For resetting the sandbox only.
void EraseAll(db::Tx& tx, db::CompanyId company);

}  // namespace comanda::users
