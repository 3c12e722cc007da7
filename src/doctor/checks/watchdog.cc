#include "doctor/checks.h"

namespace comanda::doctor {

Findings CheckWatchdog(const Box& box) {
  std::string idle;
  for (const std::string& name : box.machine.List("/sys/class/watchdog")) {
    const std::string directory = "/sys/class/watchdog/" + name + "/";
    std::string text = box.machine.Line(directory + "identity");
    if (text.empty()) text = name;
    if (box.machine.Line(directory + "state") == "active") {
      return {Well("The hardware watchdog (" + text + ") restarts a machine that hangs.")};
    }
    if (idle.empty()) idle = text;
  }
  if (idle.empty()) return {Well("This machine shows no hardware watchdog.")};
  return {Warning("The hardware watchdog (" + idle + ") is not used.",
                  "A machine that hangs stays so until somebody pulls its plug.",
                  "mkdir -p /etc/systemd/system.conf.d\n"
                  "printf '[Manager]\\nRuntimeWatchdogSec=30s\\n' "
                  ">/etc/systemd/system.conf.d/watchdog.conf\n"
                  "systemctl daemon-reexec")};
}

}  // namespace comanda::doctor
