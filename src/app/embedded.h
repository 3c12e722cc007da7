#pragma once

// Files of src/app that are compiled into the program. scripts/embed.cmake generates the source of
// these functions at build time.

#include <cstdint>
#include <string_view>
#include <vector>

#include "db/database.h"

namespace comanda::app {

std::string_view DemoJson();
// The files migrations/NNNN_name.sql, in the order of their numbers.
const std::vector<db::Migration>& Migrations();
// The newest schema that this program knows.
inline int64_t SchemaKnown() { return Migrations().back().number; }

}  // namespace comanda::app
