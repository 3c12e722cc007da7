#include "doctor/checks.h"

namespace comanda::doctor {
namespace {

Finding CheckStatus(const Box& box) {
  const std::string state = StateOf(box, "delivery_apps");
  if (state.empty()) return Well("No delivery app is connected, or none was asked yet.");
  if (state.find("UNKNOWN") != state.npos) {
    return Warning("Delivery apps: " + state + ".",
                   "An app whose state is unknown may show the shop as closed.",
                   "comanda provider list     # then: comanda provider try APP");
  }
  return Well("Delivery apps: " + state + ".");
}

// A state without a colon is one without trouble: "ifood primary".
Findings CheckOrders(const Box& box) {
  const std::string state = StateOf(box, "app_orders");
  if (state.empty()) return {};
  if (state.find(": ") == state.npos) return {Well("Orders of delivery apps: " + state + ".")};
  return {Warning("Orders of delivery apps: " + state + ".",
                  "An order of an app may be missing on this box, or be cancelled in the app.",
                  "comanda provider list     # then: comanda provider parked")};
}

}  // namespace

Findings CheckApps(const Box& box) {
  Findings findings = {CheckStatus(box)};
  for (Finding& finding : CheckOrders(box)) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace comanda::doctor
