#include "db/lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/problem.h"

namespace comanda::db {
namespace {

// The advice in the error message for a file that this process may not open.
std::string WhoMay(const std::string& path) {
  return "; run this as the user of the service or as root. " + AccessAdvice({path});
}

}  // namespace

std::optional<DirectoryLock> DirectoryLock::TryAcquire(const std::string& data_directory) {
  const std::string path = data_directory + "/comanda.lock";
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  const bool is_read_only = !fd && errno == EROFS;
  if (is_read_only) fd = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) {
    const int error = errno;
    if (is_read_only) {
      throw Fault(Fault::Kind::kDiskReadOnly,
                  data_directory +
                      " is on a read-only disk and no server has worked in it: make "
                      "the disk writable, or restore a backup to another one");
    }
    throw Fault(Fault::Kind::kInternal, "cannot open " + path + ": " + std::strerror(error) +
                                            (error == EACCES ? WhoMay(path) : ""));
  }
  if (!is_read_only) TakeOwnerOfDirectory(path);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::nullopt;
    throw Fault(Fault::Kind::kInternal, "cannot lock " + path + ": " + std::strerror(errno));
  }
  return DirectoryLock(std::move(fd));
}

}  // namespace comanda::db
