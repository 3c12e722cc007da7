#pragma once

// Users as JSON (contract section 10). All documented fields are present, null if empty.

#include <string>

#include "users/users.h"

namespace comanda::users {

// The record as answers show it.
std::string Render(const User& user);

}  // namespace comanda::users
