#include "db/lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/problem.h"

namespace comanda::db {
namespace {

constexpr const char* kWhoMay = "; run this as the user of the service or as root";

}  // namespace

std::optional<DirectoryLock> DirectoryLock::TryAcquire(const std::string& data_directory) {
  const std::string path = data_directory + "/comanda.lock";
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) {
    throw Fault(Fault::Kind::kInternal, "cannot open " + path + ": " + std::strerror(errno) +
                                            (errno == EACCES ? kWhoMay : ""));
  }
  TakeOwnerOfDirectory(path);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::nullopt;
    throw Fault(Fault::Kind::kInternal, "cannot lock " + path + ": " + std::strerror(errno));
  }
  return DirectoryLock(std::move(fd));
}

}  // namespace comanda::db
