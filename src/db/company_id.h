#pragma once

#include <cstdint>

namespace comanda::db {

// The small integer that identifies a company inside one database file. Outside, companies have
// UUIDs.
using CompanyId = int64_t;

}  // namespace comanda::db
