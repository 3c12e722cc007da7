#pragma once

// Writing on a disk that may keep neither owners nor modes: a stick with FAT, exFAT or NTFS, a
// share of another computer. Files and directories are made for their owner alone where the file
// system can do that; elsewhere they are made all the same, since a backup that others can read is
// better than none. IsPrivate() tells afterwards.

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/handle.h"

namespace comanda::backups {

// The directory and those above it that are missing, of mode 0700. Run as root, each is given to
// the owner of the directory that it is in, as files are below. Fault if it cannot be made.
void MakePrivateDirectories(const std::string& path);

// A new file of mode 0600. Fault if it is there, or cannot be made.
Fd CreatePrivateFile(const std::string& path);
// The same with its content, on disk.
void WritePrivateFile(const std::string& path, std::string_view content);

// Whether a file or directory that was made so belongs to `owner` and nobody else may read it.
bool IsPrivate(const std::string& path, uid_t owner);

}  // namespace comanda::backups
