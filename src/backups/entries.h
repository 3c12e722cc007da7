#pragma once

// What lies in the directory of a backup. Somebody may have put anything there: a pipe, a device, a
// symbolic link to /. Nothing here follows a symbolic link, waits for a pipe, or leaves the file
// system of the directory.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/handle.h"

namespace comanda::backups {

enum class Kind : uint8_t { kNone, kFile, kDirectory, kOther };

// kOther also for a symbolic link.
Kind KindOf(const std::string& path);

// "a symbolic link", "a pipe", "a device", "a socket", "a directory", "a file"; for messages.
std::string NameOfKind(const std::string& path);

// What is below a directory, by paths relative to it.
struct Tree {
  std::map<std::string, int64_t> files;        // and their sizes
  std::map<std::string, std::string> strange;  // what no backup has, and what it is instead
};
// A directory on which another file system is mounted, one that is nested too deep, and what comes
// after kEntriesMax entries count as strange. Fault if a directory cannot be read.
Tree TreeOf(const std::string& directory);

// A regular file, opened to be read. `name` is relative to the directory, and may have slashes.
// Refusal, which says what it is, for anything else. Fault if it cannot be opened.
Fd OpenFileIn(const std::string& directory, const std::string& name);

// Its content; nothing if there is no such file. Throws like OpenFileIn(); Fault above 64 MiB.
std::optional<std::string> ReadFileIn(const std::string& directory, const std::string& name);

// The largest file that a backup has beside databases.
inline constexpr int64_t kSmallFileBytesMax = 64 * 1024 * 1024;

}  // namespace comanda::backups
