#include "backups/medium.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/problem.h"

namespace comanda::backups {
namespace {

[[noreturn]] void Fail(const std::string& path, int error) {
  const bool is_full = error == ENOSPC || error == EDQUOT;
  throw Fault(is_full ? Fault::Kind::kDiskFull : Fault::Kind::kInternal,
              "cannot make " + path + ": " + std::strerror(error));
}

}  // namespace

void MakePrivateDirectories(const std::string& path) {
  if (::access(path.c_str(), F_OK) == 0) return;
  if (const std::string above = DirectoryOf(path); above != path) MakePrivateDirectories(above);
  if (::mkdir(path.c_str(), 0700) != 0) {
    if (errno == EEXIST) return;
    Fail(path, errno);
  }
  TakeOwnerOfDirectory(path);
}

Fd CreatePrivateFile(const std::string& path) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) Fail(path, errno);
  TakeOwnerOfDirectory(path);
  return fd;
}

void WritePrivateFile(const std::string& path, std::string_view content) {
  const Fd fd = CreatePrivateFile(path);
  WriteAll(fd, content, path);
  SyncFile(fd, path);
}

bool IsPrivate(const std::string& path, uid_t owner) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) != 0) return false;
  return found.st_uid == owner && (found.st_mode & 0777) == (S_ISDIR(found.st_mode) ? 0700 : 0600);
}

}  // namespace comanda::backups
