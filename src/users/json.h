#pragma once

// The wire form of staff (contract section 10).

#include <string>

#include "users/users.h"

namespace comanda::users {

std::string Render(const User& user);

}  // namespace comanda::users
