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
  if (!fd) {
    const int error = errno;
    throw Fault(Fault::Kind::kInternal, "cannot open " + path + ": " + std::strerror(error) +
                                            (error == EACCES ? WhoMay(path) : ""));
  }
  TakeOwnerOfDirectory(path);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::nullopt;
    throw Fault(Fault::Kind::kInternal, "cannot lock " + path + ": " + std::strerror(errno));
  }
  return DirectoryLock(std::move(fd));
}

}  // namespace comanda::db
