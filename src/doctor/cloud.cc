#include "doctor/checks.h"

namespace comanda::doctor {
// What the server says of the sync: cloud/status.h, Describe().
Findings CheckCloud(const Box& box) {
  const std::string state = StateOf(box, "sync");
  if (state.empty()) return {Well("Not asked: no server answers.")};
  if (state.starts_with("not linked")) return {Well("This box is not linked to a cloud.")};
  Findings findings;
  if (state.starts_with("stopped") || state.starts_with("offline") ||
      state.starts_with("cannot be read")) {
    findings.push_back(
        Warning("The sync with the cloud is " + state + ".",
                "What is sold here is not in the cloud yet, and what comes in there is not here. "
                "Nothing is lost: it waits.",
                "comanda cloud status"));
  } else if (state.starts_with("paused")) {
    findings.push_back(Warning("The sync with the cloud is " + state + ".",
                               "Nothing is sent or read until it goes on.",
                               "comanda cloud resume"));
  }
  if (state.find("be read since") != state.npos || state.find("not read since") != state.npos) {
    findings.push_back(Warning("The sync with the cloud is " + state + ".",
                               "What the cloud has changed of it is not here. It is tried again.",
                               "comanda cloud status"));
  }
  if (Metric(box, "comanda_cloud_late").value_or(0) > 0) {
    findings.push_back(
        Warning("The cloud does not answer for some orders, and answers for others.",
                "What changed in them is not in the cloud. They are tried again for a day.",
                "comanda cloud status     # or: comanda cloud discard ORDER --reason TEXT"));
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

}  // namespace comanda::doctor
