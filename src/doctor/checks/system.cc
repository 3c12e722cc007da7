#include "doctor/checks.h"

#include "base/time/zone.h"
#include "integrity/file_verification.h"

namespace comanda::doctor {
namespace {

// What the server says; where none runs, what the database says, in which nothing is changed.
std::vector<std::string> ZoneTroubles(const Box& box) {
  if (box.server) {
    const std::string state = StateOf(box, "time_zones");
    return state.empty() ? std::vector<std::string>() : std::vector{state};
  }
  if (!box.is_data_readable) return {};
  return integrity::ZoneTroubles(box.options.data_directory + "/live.db",
                                 integrity::FileState::kFrozen, SystemClock());
}

// What is wrong with a zone names the command; a name that is no zone's has to be replaced.
std::string RemedyFor(const Box& box, const std::string& trouble) {
  if (trouble.find(kInstallZones) != trouble.npos) return std::string(kInstallZones);
  return "comanda verify --data " + box.options.data_directory +
         "     # names the restaurant; import its file again with the right timezone";
}

}  // namespace

Findings CheckSystem(const Box& box) {
  Findings findings;
  if (!box.machine.IsThere("/usr/share/zoneinfo/Etc/UTC")) {
    findings.push_back(Broken("The system has no time zone data.",
                              "Business days and opening hours do not follow daylight saving "
                              "time, and no restaurant can be brought in.",
                              kInstallZones));
  } else {
    for (const std::string& trouble : ZoneTroubles(box)) {
      findings.push_back(Warning("A time zone has no data: " + trouble + ".",
                                 "Business days and opening hours do not follow daylight saving "
                                 "time; orders go on.",
                                 RemedyFor(box, trouble)));
    }
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
