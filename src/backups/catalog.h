#pragma once

// The backups in a directory of the setting backup_to. They are named
//
//   comanda-NUMBER-TIME           a directory: a plain backup
//   comanda-NUMBER-TIME.sealed    a file: a sealed one (sealed.h)
//
// NUMBER counts the backups in that directory from 000001, TIME is UTC as the clock showed it
// (20261123T031500Z). The number gives the order in which they were made; the time does not, since
// the clock of a box may be wrong or set back. A backup has such a name only after it was checked.
// ".damaged" after the name marks one of a database that was damaged: it is kept for repair, and is
// not one of the good ones below.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"

namespace comanda::backups {

struct Backup {
  std::string path;
  std::string name;  // the last part of the path
  int64_t number = 0;
  UtcMs made_at = 0;  // to the second
  bool is_sealed = false;
};

// The good backups in the directory, newest first, in the order of their numbers. Entries with
// other names are ignored, as are directories named like files, the reverse, and symbolic links.
// Empty if the directory cannot be read. What was lost of one later is not looked at
// (WhyNotWhole()).
std::vector<Backup> BackupsIn(const std::string& directory);

// The backups of damaged databases in the directory, newest first.
std::vector<Backup> DamagedIn(const std::string& directory);

// The name of a good backup.
std::string NameOfBackup(int64_t number, UtcMs made_at, bool is_sealed);

// The same, read. Nothing if the name has another form; path is left empty.
std::optional<Backup> ParseName(std::string_view name);

inline constexpr std::string_view kDamagedEnd = ".damaged";

// What is missing of a backup now, as can be seen within milliseconds: its files, or those of a
// sealed one, were deleted, cut or replaced. Empty if nothing is. `bytes` is the size that a sealed
// one had; 0 if that is not known. Fault if it cannot be read.
std::string WhyNotWhole(const Backup& backup, int64_t bytes);

// A number higher than those of all entries that are named like backups, damaged ones included.
int64_t NextNumber(const std::string& directory);

}  // namespace comanda::backups
