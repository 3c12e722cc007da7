#pragma once

// Files of src/app that are part of the program; scripts/embed.cmake turns them into the source.

#include <string_view>
#include <vector>

#include "db/database.h"

namespace comanda::app {

std::string_view DemoJson();
// migrations/NNNN_name.sql, by number.
const std::vector<db::Migration>& Migrations();

}  // namespace comanda::app
