#pragma once

// Who asks in SQL (contract section 23): a login of the database server, member of comanda_office,
// which only reads and whose questions end after a minute.

#include <string>

#include "base/time/clock.h"
#include "db/postgresql/login.h"
#include "db/settings.h"

namespace comanda::office {

// Makes it, or gives it a new password: the first line of that file. Refusal for a name that
// PostgreSQL has only in quotation marks or that is taken, and for a file that is missing, empty or
// may be read by others. `settings` are those of the restaurants' database.
db::MadeLogin MakeLogin(const db::Settings& settings, const Clock& clock, const std::string& name,
                        const std::string& password_file);

}  // namespace comanda::office
