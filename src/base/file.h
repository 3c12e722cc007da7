#pragma once

// Small files that the program owns (certificates, configuration, markers): read whole, replaced
// atomically. Database files belong to db/.
//
// Unless stated otherwise, a function throws Fault on an I/O error: kDiskFull for ENOSPC and
// EDQUOT, kDiskReadOnly for EROFS, else kInternal. Functions that sync block until the disk
// confirms; threads that serve requests do not call them. Any thread.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/handle.h"

namespace comanda {

// Nothing if the file does not exist. Throws Fault also for a file above 64 MiB.
std::optional<std::string> ReadFile(const std::string& path);

// Replaces the file atomically and durably: writes a temporary file in the same directory, syncs
// it, renames it over `path`, syncs the directory. After a power cut the file has either the old or
// the new content. Run as root, the file is given to the owner of its directory, so that a command
// does not lock out the daemon.
void ReplaceFile(const std::string& path, std::string_view content, mode_t mode);

// Files of any size, which are read and written in pieces. `path` is for the error message.
Fd OpenToRead(const std::string& path);
// The file must not exist. Run as root, it is given to the owner of its directory.
Fd CreateFile(const std::string& path, mode_t mode);
// Up to `bytes`; fewer only at the end of the file.
std::string ReadUpTo(const Fd& fd, size_t bytes, const std::string& path);
void WriteAll(const Fd& fd, std::string_view content, const std::string& path);
void SyncFile(const Fd& fd, const std::string& path);
// The same for a directory: the names in it are on disk afterwards.
void SyncDirectory(const std::string& path);

// Renames within one file system and syncs the directory; an existing `to` is replaced. After a
// power cut the file has exactly one of both names. The content must be synced already.
void RenameDurably(const std::string& from, const std::string& to);

// True if the path names something, also a symbolic link whose target is missing. If not, errno has
// the reason. Throws nothing.
bool IsThere(const std::string& path);

// The size of a file; 0 if there is none. Throws nothing.
int64_t SizeOf(const std::string& path);

// The names of all entries of a directory. Nothing if it cannot be read; errno has the reason.
// Throws nothing.
std::optional<std::vector<std::string>> EntriesIn(const std::string& directory);

// The names of all entries that are not directories. Nothing if the directory cannot be read; errno
// has the reason. Throws nothing.
std::optional<std::vector<std::string>> FilesIn(const std::string& directory);

// The names of the subdirectories. Nothing if the directory cannot be read. Throws nothing.
std::optional<std::vector<std::string>> DirectoriesIn(const std::string& directory);

// Deletes a file, or a directory with its content, as far as possible. Does not follow symbolic
// links. Throws nothing; the caller checks whether the path is gone where that matters.
void RemoveAll(const std::string& path);

// "/a//" is "/a"; "/" stays.
std::string WithoutSlash(std::string path);

// The path before the last slash; "." if there is no slash.
std::string DirectoryOf(const std::string& path);

// Creates the directory and its missing parents, like mkdir -p. `mode` is applied to each directory
// created, whatever the umask.
void MakeDirectories(const std::string& path, mode_t mode);

// A sentence for an error message: the first of these files, or directory above it, that this
// process cannot access, its owner and mode, and the shell command that corrects it. Empty if all
// are accessible or do not exist yet. Throws nothing.
std::string AccessAdvice(const std::vector<std::string>& paths);

// The name of a user, as /etc/passwd has it; the number if it has none. Throws nothing.
std::string NameOfUser(uid_t user);

// Whether the file system of the path is of a kind that keeps no owners and modes, or does so only
// as somebody has set it up: FAT, exFAT, NTFS, SMB, NFS, and what FUSE serves. False if it cannot
// be looked at. Throws nothing.
bool MayLackOwners(const std::string& path);

// Run as root, gives the file the owner and group of its directory; otherwise does nothing. Does
// not follow symbolic links. A file system that may lack owners may refuse it: the file stays as it
// is then.
void TakeOwnerOfDirectory(const std::string& path);

}  // namespace comanda
