#include "db/read_only.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

#include <cerrno>

#include "base/file.h"
#include "base/handle.h"
#include "base/problem.h"

namespace comanda::db {

bool DirectoryIsReadOnly(const std::string& data_directory) {
  struct statvfs found = {};
  if (::statvfs(data_directory.c_str(), &found) == 0 && (found.f_flag & ST_RDONLY) != 0) {
    return true;
  }
  const std::string path = data_directory + "/comanda.lock";
  const Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return !fd && errno == EROFS;
}

bool HasStopped(const char* file) {
  return ::setxattr(file, "user.comanda.none", "", 0, XATTR_REPLACE) != 0 &&
         (errno == EROFS || errno == EIO);
}

Onlooker::Onlooker(const std::string& database_path)
    : path_(database_path),
      sharing_(DirectoryIsReadOnly(DirectoryOf(database_path)) ? Sharing::kAlone
                                                               : Sharing::kShared) {}

void Onlooker::RequireStill() const {
  if (sharing_ == Sharing::kShared || DirectoryIsReadOnly(DirectoryOf(path_))) return;
  throw Fault(Fault::Kind::kUnavailable,
              "the disk of " + path_ + " was read-only and became writable meanwhile: try again");
}

}  // namespace comanda::db
