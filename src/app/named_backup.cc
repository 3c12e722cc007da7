#include "app/named_backup.h"

#include <sys/stat.h>

#include "app/embedded.h"
#include "backups/sealed.h"
#include "base/problem.h"

namespace comanda::app {

int64_t SchemaKnown() { return static_cast<int64_t>(Migrations().size()); }

std::string PassphraseFor(const std::string& backup, const Arguments& arguments) {
  if (!backups::IsSealed(backup)) return "";
  const auto file = arguments.Find(kPassphraseFlag.name);
  if (file) return backups::ReadPassphrase(*file);
  throw Refusal(Problem::kValidationFailed,
                backup + " is sealed: name the file with its passphrase, --passphrase-file FILE");
}

int64_t SizeOf(const std::string& path) {
  struct stat found = {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_size : 0;
}

std::string WithoutSlash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace comanda::app
