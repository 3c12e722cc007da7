#pragma once

// All SQL of the room. Functions throw Fault on a database error.

#include <optional>
#include <string>
#include <string_view>

#include "db/session.h"

namespace comanda::delivery::store {

// The state of the store that was reported last: "OPEN". Nothing: none was.
std::optional<std::string> FindState(db::Session& session, db::CompanyId company,
                                     std::string_view app);
void PutState(db::Tx& tx, db::CompanyId company, std::string_view app, std::string_view status);
void RemoveState(db::Tx& tx, db::CompanyId company, std::string_view app);

}  // namespace comanda::delivery::store
