#include "commands/passphrase.h"

#include "backups/sealed.h"
#include "base/problem.h"

namespace comanda::commands {

std::string FindPassphrase(const config::Options& options, const Arguments& arguments) {
  const std::string file =
      arguments.Find("passphrase-file").value_or(options.backup_passphrase_file);
  return file.empty() ? "" : backups::ReadPassphrase(file);
}

std::string PassphraseFor(const std::string& backup, const config::Options& options,
                          const Arguments& arguments) {
  std::string passphrase = FindPassphrase(options, arguments);
  if (!passphrase.empty()) return passphrase;
  throw Refusal(Problem::kInvalidParameter,
                backup + " is sealed: give the file of its passphrase with --passphrase-file FILE");
}

}  // namespace comanda::commands
