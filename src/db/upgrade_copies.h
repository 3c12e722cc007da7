#pragma once

// The copy of a database that is taken before an upgrade, "live.db.before-5": it is for going back
// to the program before, which cannot read what the upgrade made. It is deleted when it has been
// kept long enough, when the next upgrade begins, and when the disk has other use for its space.

#include <string>
#include <string_view>

#include "base/time/clock.h"

namespace comanda::db {

inline constexpr int64_t kUpgradeCopyKeptMs = 7 * 24 * 3'600'000LL;

// `version`: the first that the upgrade leads to.
std::string UpgradeCopyPath(const std::string& path, int version);

// Whether the name is one that the program gives to such a copy, whole or unfinished, of that
// database ("live.db") or of any ("*").
bool IsUpgradeCopy(std::string_view name, std::string_view file);

// Deletes the directory's copies, whole or unfinished, that were taken before that time: those of
// one database ("live.db"), or all ("*"). True where there was one. Any thread.
bool DeleteUpgradeCopies(const std::string& directory, std::string_view file, UtcMs taken_before);

}  // namespace comanda::db
