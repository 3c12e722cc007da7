#pragma once

// Which old backups go. Pure.

#include <cstddef>
#include <vector>

#include "backups/catalog.h"

namespace comanda::backups {

struct RotationRule {
  size_t daily = 7;   // days of which the newest backup is kept
  size_t weekly = 4;  // weeks, from Monday, of which the newest backup is kept
};

// The newest backups that are kept whatever the rule and the clock say.
inline constexpr size_t kAlwaysKept = 2;

// The backups that are no longer kept, oldest first. Newer means a higher number. The days and
// weeks are those that the clock showed (UTC), counted in the order of the backups and not of the
// calendar: a clock of 1970 or of 2038 makes one day more, and makes no other backup older.
std::vector<Backup> Superfluous(std::vector<Backup> backups, const RotationRule& rule);

}  // namespace comanda::backups
