#include "doctor/checks.h"

namespace comanda::doctor {
namespace {

std::string StateOf(const Box& box, std::string_view name) {
  for (const Readiness& one : ReadinessOf(box)) {
    if (one.name == name) return one.state;
  }
  return "";
}

// What the server says of the sync (cloud/status.h, Describe).
bool Begins(const std::string& state, std::string_view with) { return state.starts_with(with); }

}  // namespace

Findings CheckCloud(const Box& box) {
  const std::string state = StateOf(box, "sync");
  if (state.empty()) return {Well("Not asked: no server answers.")};
  if (Begins(state, "not linked")) return {Well("This box is not linked to a cloud.")};
  Findings findings;
  if (Begins(state, "stopped") || Begins(state, "offline") || Begins(state, "cannot be read")) {
    findings.push_back(
        Warning("The sync with the cloud is " + state + ".",
                "What is sold here is not in the cloud yet, and what comes in there is not here. "
                "Nothing is lost: it waits.",
                "comanda cloud status"));
  } else if (Begins(state, "paused")) {
    findings.push_back(Warning("The sync with the cloud is " + state + ".",
                               "Nothing is sent or read until it goes on.",
                               "comanda cloud resume"));
  }
  if (Metric(box, "comanda_cloud_parked").value_or(0) > 0) {
    findings.push_back(
        Warning("Orders are parked: the cloud refused them, or cancelled what is paid here.",
                "Nothing more of them is sent until a person decides.",
                "comanda cloud parked     # then: comanda cloud retry ORDER"));
  }
  if (findings.empty()) findings.push_back(Well("The cloud: " + state + "."));
  return findings;
}

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
