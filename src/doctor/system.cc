#include "doctor/checks.h"

namespace comanda::doctor {

Findings CheckSystem(const Box& box) {
  Findings findings;
  if (!box.machine.IsThere("/usr/share/zoneinfo/Etc/UTC")) {
    findings.push_back(Broken("The system has no time zone data.",
                              "Business days and opening hours depend on it: the server does not "
                              "start with a restaurant.",
                              "apt install --reinstall tzdata"));
  }
  if (!box.machine.IsThere("/etc/ssl/certs/ca-certificates.crt") &&
      !box.machine.IsThere("/etc/pki/tls/certs/ca-bundle.crt")) {
    findings.push_back(Warning("The system has no certificate authorities.",
                               "Webhooks to public addresses cannot be verified and are not sent.",
                               "apt install --reinstall ca-certificates"));
  }
  if (findings.empty()) findings.push_back(Well("Time zones and authorities are installed."));
  return findings;
}

}  // namespace comanda::doctor
