#pragma once

// Files of src/app that are compiled into the program. scripts/embed.cmake generates the source of
// these functions at build time.

#include <string_view>
#include <vector>

#include "db/database.h"

namespace comanda::app {

std::string_view DemoJson();
// The files migrations/NNNN_name.sql, in the order of their numbers.
const std::vector<db::Migration>& Migrations();

}  // namespace comanda::app
