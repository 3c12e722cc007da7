#include "users/users.h"

#include "users/store.h"

namespace comanda::users {

std::optional<User> Find(db::Session& session, db::CompanyId company, std::string_view id) {
  return Select(session, company, id);
}

}  // namespace comanda::users
