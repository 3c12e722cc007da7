#include <array>
#include <string>

#include "app/arguments.h"
#include "app/commands.h"
#include "app/control.h"
#include "app/environment.h"
#include "app/terminal.h"
#include "base/build_date.h"
#include "base/clock.h"
#include "base/problem.h"
#include "crypto/certificate.h"
#include "ops/certificates.h"

namespace comanda::app {
namespace {

constexpr std::array kFlags = {
    kDataFlag,
    kHelpFlag,
};

std::string Help() {
  return "comanda tls renew-authority [--data DIR]\n\n"
         "Makes a new certificate authority, DIR/tls/ca.crt with its key. EVERY DEVICE must then "
         "install\n"
         "the new ca.crt: until then it refuses the box. Needed where the authority has ended, "
         "was dated by\n"
         "a wrong clock, or where its key is lost or stolen. Set the clock first.\n"
         "A server that is running serves a certificate of it within a minute, or at once after\n"
         "`systemctl reload comanda`.\n\n" +
         DescribeFlags(kFlags);
}

int RenewAuthority(const Arguments& arguments) {
  const config::Options options = ReadControlOptions(arguments);
  if (!options.tls_certificate.empty()) {
    throw Refusal(Problem::kValidationFailed,
                  "the settings name a certificate of your own (tls_certificate): there is no "
                  "authority to renew");
  }
  RequireDatabase(DatabasePath(auth::Mode::kLive, options));
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

}  // namespace

int Tls(Words words) {
  const std::optional<Arguments> arguments = ReadArguments(words, kFlags, Help);
  if (!arguments) return kExitDone;
  if (arguments->positional().size() != 1 || arguments->positional().front() != "renew-authority") {
    throw Refusal(Problem::kInvalidParameter,
                  "comanda tls renew-authority is the one thing it does; see comanda tls --help");
  }
  return RenewAuthority(*arguments);
}

}  // namespace comanda::app
