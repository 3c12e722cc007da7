#include "app/named_backup.h"

#include <sys/stat.h>

#include "app/embedded.h"

namespace comanda::app {

int64_t SchemaKnown() { return static_cast<int64_t>(Migrations().size()); }

int64_t SizeOf(const std::string& path) {
  struct stat found = {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_size : 0;
}

std::string WithoutSlash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace comanda::app
