#pragma once

// Files of our own (certificate, configuration): read whole, replaced whole.

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace comanda {

// Nothing where the file does not exist; Fault on other errors or above 64 MiB.
std::optional<std::string> ReadFile(const std::string& path);

// Written to a temporary file beside it, synced, renamed, directory synced: after a power cut
// either the old or the new content is there. The file gets the directory's owner (commands run as
// root must not lock the daemon out). Fault on errors.
void ReplaceFile(const std::string& path, std::string_view content, mode_t mode);

// Of what is synced already, within a file system; the directory is synced: after a power cut it
// has one of both names. Takes the place of a file. Fault on errors.
void RenameDurably(const std::string& from, const std::string& to);

// The names of the files in a directory, whatever their kind but directories; nothing where it
// cannot be read, errno says why.
std::optional<std::vector<std::string>> FilesIn(const std::string& directory);

// The names of the directories in a directory; nothing where it cannot be read.
std::optional<std::vector<std::string>> DirectoriesIn(const std::string& directory);

// As far as it can be: a file, or a directory with all that is in it. Follows no link.
void RemoveAll(const std::string& path);

// What stands before the last slash; "." where there is none.
std::string DirectoryOf(const std::string& path);

// mkdir -p with that mode for what is made. Fault on errors.
void MakeDirectories(const std::string& path, mode_t mode);

// For a message: which of the files, or which directory above them, this process may not read and
// write, whose it is, and the command that mends it. Empty where all of them can be used, or are
// missing in a directory that can be.
std::string AccessAdvice(const std::vector<std::string>& paths);

// Gives a file made by us the owner of the directory it stands in, when we run as root.
void TakeOwnerOfDirectory(const std::string& path);

}  // namespace comanda
