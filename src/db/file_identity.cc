#include "db/file_identity.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace comanda::db {

// The device number is left out: it may change with each start of the machine.
std::string FileIdentity(const std::string& path) {
  struct statx found = {};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_INO | STATX_BTIME, &found) != 0) return "";
  const bool has_birth = (found.stx_mask & STATX_BTIME) != 0;
  return std::to_string(found.stx_ino) + " " +
         (has_birth ? std::to_string(found.stx_btime.tv_sec) + "." +
                          std::to_string(found.stx_btime.tv_nsec)
                    : "0");
}

}  // namespace comanda::db
