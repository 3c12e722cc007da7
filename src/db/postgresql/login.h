#pragma once

// Makes a user of the database server: a role that can log in and is a member of another one, with
// settings that act where it logs in. Each call connects on its own and blocks.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time/clock.h"
#include "db/postgresql/published.h"
#include "db/settings.h"

namespace comanda::db {

struct Login {
  std::string name;  // letters a to z, digits and underscores
  std::string password;
  std::vector<std::pair<std::string_view, std::string_view>> settings;
};

struct MadeLogin {
  enum class Outcome { kMade, kNewPassword, kNotAllowed };
  Outcome outcome;
  // Where this user of the server may not make roles: what a superuser runs instead. It holds the
  // server's verifier of the password, not the password.
  std::string sql;
};

// As a member of the role that may read the published views. A login that is no more than that gets
// the new password. Refusal where another role has the name, or the views are not there.
// settings.published is not null.
MadeLogin MakeLogin(const Settings& settings, const Clock& clock, const Login& login);

}  // namespace comanda::db
