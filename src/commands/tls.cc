#include <array>
#include <string>

#include "app/environment.h"
#include "app/storage.h"
#include "app/trust_pages.h"
#include "base/build_date.h"
#include "base/file.h"
#include "base/problem.h"
#include "base/time/clock.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/control.h"
#include "commands/embedded.h"
#include "commands/terminal.h"
#include "crypto/certificate.h"
#include "ops/certificates.h"

namespace comanda::commands {
namespace {

constexpr std::array kVerbs = {Verb{"fingerprint", 0}, Verb{"renew-authority", 0}};

constexpr std::array kFlags = {
    kDataFlag,
    kYesFlag,
    kHelpFlag,
};

int RenewAuthority(const Arguments& arguments) {
  const config::Options options = ReadControlOptions(arguments);
  if (!options.tls_certificate.empty()) {
    throw Refusal(Problem::kValidationFailed,
                  "the settings name a certificate of your own (tls_certificate): there is no "
                  "authority to renew");
  }
  RequireDatabase(auth::Mode::kLive, options);
  if (!arguments.Has(kYesFlag.name) &&
      !AskYes("EVERY DEVICE refuses the box from then on, until the new " +
              ops::AuthorityPath(options) + " is installed on it.\nA new authority?")) {
    throw Refusal(Problem::kValidationFailed, "not renewed; nothing was changed");
  }
  const UtcMs now = SystemClock().Now();
  const crypto::CertificateInfo info = crypto::Inspect(
      ops::RenewAuthority(options, {.wall = now, .settled = now, .built = BuildDate()}));
  Print("new authority  " + ops::AuthorityPath(options) + "\nvalid until    " +
        FormatInstant(info.validity.not_after).substr(0, 10) + "\nsha256         " +
        info.fingerprint_sha256 +
        "\n\nInstall it on every device. The server uses it within a minute, or at once after "
        "`systemctl reload comanda`.\n");
  return kExitDone;
}

int Fingerprint(const Arguments& arguments) {
  const config::Options options = ReadControlOptions(arguments);
  if (!options.tls_certificate.empty()) {
    throw Refusal(
        Problem::kValidationFailed,
        "the settings name a certificate of your own (tls_certificate): devices trust its "
        "issuer, and there is no authority of the box");
  }
  const auto pem = ReadFile(ops::AuthorityPath(options));
  if (!pem) {
    throw Refusal(Problem::kValidationFailed,
                  ops::AuthorityPath(options) + " is not there yet: start the server first");
  }
  const crypto::CertificateInfo info = crypto::Inspect(*pem);
  Print("words   " + app::FingerprintWords(info.fingerprint_sha256) + "\nsha256  " +
        info.fingerprint_sha256 + "\npin     " + ops::UrlPin(info) + "\nvalid until " +
        FormatInstant(info.validity.not_after).substr(0, 10) + "\n");
  return kExitDone;
}

}  // namespace

int Tls(Words words) {
  const std::optional<Arguments> arguments = ReadArguments(words, kFlags, TlsHelp());
  if (!arguments) return kExitDone;
  const std::string_view verb = ReadVerb(*arguments, kVerbs, "tls");
  if (verb == "fingerprint") return Fingerprint(*arguments);
  return RenewAuthority(*arguments);
}

}  // namespace comanda::commands
