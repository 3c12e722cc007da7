#include "doctor/checks.h"

namespace comanda::doctor {

Findings CheckApps(const Box& box) {
  const std::string state = StateOf(box, "delivery_apps");
  if (state.empty()) return {Well("No delivery app is connected, or none was asked yet.")};
  if (state.find("UNKNOWN") != state.npos) {
    return {Warning("Delivery apps: " + state + ".",
                    "An app that does not tell its state may show the shop as closed.",
                    "comanda provider list     # then: comanda provider try APP")};
  }
  return {Well("Delivery apps: " + state + ".")};
}

}  // namespace comanda::doctor
