#include "doctor/checks.h"
#include "doctor/checks/unit.h"

namespace comanda::doctor {

Findings CheckService(const Box& box) {
  const std::optional<Unit> unit = FindUnit(box);
  Findings findings;
  if (!box.server) {
    findings.push_back(Broken("No server runs for " + box.options.data_directory + ".",
                              "Tills and displays can do nothing.", StartCommand(box)));
  } else if (box.server->is_refused_us) {
    findings.push_back(Warning("The server runs, but this user may not ask for its state.",
                               "What only the server knows is missing in this report.",
                               "runuser -u " + UserOf(box) + " -- comanda doctor     # as root"));
  } else if (!box.server->readiness && box.is_read_only) {
    findings.push_back(
        Warning("The server runs. It started on the read-only disk, where it cannot make its "
                "control socket.",
                "What only the server knows is missing in this report."));
  } else if (!box.server->readiness) {
    findings.push_back(Broken("The server runs, but does not answer: " + box.server->trouble + ".",
                              "It is starting, stopping or stuck; tills wait.",
                              "journalctl -u comanda -n 20\n" + RestartCommand(box)));
  } else {
    findings.push_back(Well("The server runs and answers."));
  }
  if (!unit) return findings;
  if (unit->is_masked || !unit->is_enabled) {
    findings.push_back(
        Warning(std::string("The service is ") + (unit->is_masked ? "masked." : "not enabled."),
                "After a power cut the box starts without its server.",
                std::string(unit->is_masked ? "systemctl unmask comanda\n" : "") +
                    "systemctl enable comanda"));
  }
  return findings;
}

}  // namespace comanda::doctor
