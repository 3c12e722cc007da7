#pragma once

// The file B2SUMS of a backup: the BLAKE2b of every other file in it, a line each, in the format of
// b2sum(1): `b2sum -c B2SUMS` in the backup checks it too. Written last, so that a backup that was
// copied in part, or changed later, is recognised.

#include <map>
#include <string>
#include <vector>

namespace comanda::backups {

inline constexpr const char* kSumsFile = "B2SUMS";

// Reads every file in the directory, from the disk and not from the system's cache where that is
// possible, and returns its BLAKE2b by its path. Fault if a file cannot be read.
std::map<std::string, std::string> SumsOf(const std::string& directory);

// Writes B2SUMS, durably. Fault if that fails.
void WriteSums(const std::string& directory);

// Compares the files of a backup with its B2SUMS, both by SumsOf() or ReadSealed(). `listed` is the
// content of B2SUMS. Returns what differs, a sentence each: changed, missing and added files. Empty
// if nothing does.
std::vector<std::string> Differences(const std::string& listed,
                                     const std::map<std::string, std::string>& found);

// The same for a directory into which somebody may have put anything (entries.h). What is neither
// file nor directory is named, too. Files that are not listed, and those much larger than they can
// be, are not read. A directory without B2SUMS has that as its only difference.
std::vector<std::string> CheckSums(const std::string& directory);

// The same within milliseconds, for what was lost or cut: a database is compared by the size that
// its head tells, and its content is not read. Added files are no difference here.
std::vector<std::string> CheckQuickly(const std::string& directory);

}  // namespace comanda::backups
